import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after } from 'node:test';
import { endAfterTests } from '../support/children.js';
import type { Machine } from './machine.js';
import { FIRST_COMMAND, mustNight, type NightOnPage, type Step, VARIABLES } from './runbook-page.js';
import { fault, rareFault, type Scene } from './scene.js';

const COMMAND_MS = 90_000;
const WITHOUT_TERMINAL = /cannot ask for confirmation without a terminal/;

interface Coverage {
  /** Number of replays of this incident in this process. */
  replays: number;
  /** Number of replays that have completed. */
  ended: number;
  readonly commands: Set<string>;
}

const covered = new Map<number, Coverage>();

interface Expected {
  /** True if the command asks for confirmation, which the test gives. */
  readonly yes?: true;
  /** Exit code; 0 by default. */
  readonly exit?: number | 'any';
  /** Variables that no earlier step needs. */
  readonly with?: Readonly<Record<string, string>>;
}

/**
 * Defines a test of one runbook incident. All replays of an incident are in one file. Unless one was skipped, together
 * they must have run each command of the incident.
 */
export function replay(number: number, sentence: string, run: (scene: Scene) => Promise<void>): void {
  register(number);
  fault(`night ${number}: ${sentence}`, run);
}

/** Defines a replay that runs only with NIGHTLY=1. */
export function rareReplay(number: number, sentence: string, run: (scene: Scene) => Promise<void>): void {
  register(number);
  rareFault(`night ${number}: ${sentence}`, run);
}

function register(number: number): void {
  const coverage = covered.get(number) ?? { replays: 0, ended: 0, commands: new Set<string>() };
  coverage.replays++;
  covered.set(number, coverage);
}

after(() => {
  for (const [number, { replays, ended, commands }] of covered) {
    if (ended < replays) continue;
    for (const step of mustNight(number).steps) {
      for (const command of step.commands) {
        assert.ok(
          commands.has(keyOf(step, command)),
          `night ${number}: no replay runs step ${step.number}: ${command}`,
        );
      }
    }
  }
});

function keyOf({ number }: Step, command: string): string {
  return `${number} ${command}`;
}

/**
 * One incident in the runbook, carried out from its first step to its last, in order. The commands are those on the
 * page. If a step has no commands, the test performs it and quotes the step.
 */
export class Night {
  private readonly page: NightOnPage;
  private readonly coverage: Coverage;
  private done = 0;

  constructor(
    private readonly machine: Machine,
    private readonly number: number,
    private readonly variables: Readonly<Record<string, string>> = {},
  ) {
    this.page = mustNight(number);
    const coverage = covered.get(number);
    assert.ok(coverage !== undefined, 'a night is a test of replay() or rareReplay()');
    this.coverage = coverage;
  }

  /** Runs the next step's commands, which must succeed. Resolves to their output. */
  async run(expected: Expected = {}): Promise<string> {
    const step = this.next();
    assert.ok(step.commands.length > 0, `${this.at(step)} has a command`);
    let said = '';
    for (const [i, command] of step.commands.entries()) {
      const isLast = i === step.commands.length - 1;
      said += await this.runOne(step, command, isLast ? expected : { with: expected.with ?? {} });
      this.coverage.commands.add(keyOf(step, command));
    }
    return said;
  }

  /** Runs the last step's commands again. */
  async runAgain(expected: Expected = {}): Promise<string> {
    this.done--;
    return await this.run(expected);
  }

  /** A step without a command, performed by the test. `words` are quoted from the step. */
  async byHand(words: string, act: () => unknown = () => {}): Promise<void> {
    const step = this.next();
    assert.deepEqual(step.commands, [], `${this.at(step)} is done by hand`);
    assert.ok(step.prose.includes(words), `${this.at(step)} does not say: ${words}`);
    await act();
  }

  /** Skips a step that applies to a different case. */
  leaveOut(words: string): void {
    const step = this.next();
    assert.ok(step.isConditional, `${this.at(step)} is for one case only`);
    assert.ok(step.prose.includes(words), `${this.at(step)} does not say: ${words}`);
  }

  /** Asserts that all steps have been carried out. */
  end(): void {
    const left = this.page.steps[this.done];
    assert.equal(left, undefined, left && `${this.at(left)} was taken`);
    this.coverage.ended++;
  }

  /** Ends this incident at the step that refers to a different incident. */
  goOnIn(words: string): void {
    assert.ok(this.page.steps[this.done - 1]?.prose.includes(words), `night ${this.number} leads on: ${words}`);
    this.coverage.ended++;
  }

  private next(): Step {
    const step = this.page.steps[this.done];
    assert.ok(step !== undefined, `night ${this.number} has a step ${this.done + 1}`);
    assert.equal(step.number, ++this.done, 'steps are numbered from 1');
    return step;
  }

  private at({ number }: Step): string {
    return `step ${number} of night ${this.number}`;
  }

  private async runOne(step: Step, command: string, { yes, exit = 0, with: added = {} }: Expected): Promise<string> {
    const { machine, variables } = this;
    const env = { ...machine.environment, ...variables, ...added };
    for (const [, name = ''] of command.matchAll(/\$\{?([A-Z_]+)/g)) {
      const isKnown = VARIABLES.has(name) || name.startsWith('WALLETD_');
      assert.ok(isKnown, `the runbook explains $${name}, which ${this.at(step)} uses`);
      assert.ok(name in env || name.startsWith('WALLETD_'), `the test knows $${name}, which ${this.at(step)} uses`);
    }
    let said = '';
    for (const script of scriptsOf(command)) {
      const [word, action = '', unit = ''] = script.split(' ');
      if (word === 'systemctl') await machine.systemctl(action, unit);
      else said += await this.shell(step, script, env, yes, exit);
    }
    return said;
  }

  private async shell(
    step: Step,
    script: string,
    env: Record<string, string>,
    yes: true | undefined,
    exit: number | 'any',
  ): Promise<string> {
    const { folder } = this.machine;
    let asked = '';
    if (yes) {
      assert.match(step.prose, /\basks\b/, `${this.at(step)} says that it asks`);
      const first = await runShell(script, env, folder);
      assert.equal(first.status, 1, first.said);
      assert.match(first.said, WITHOUT_TERMINAL);
      asked = first.said;
    }
    const { status, said } = await runShell(yes ? `${script} --yes` : script, env, folder);
    if (exit !== 'any') assert.equal(status, exit, `${this.at(step)}: ${script}\n${said}`);
    return asked + said;
  }
}

/** Lines of a command, run separately if systemd is involved. */
function scriptsOf(command: string): readonly string[] {
  return /^systemctl /m.test(command) ? command.split('\n') : [command];
}

async function runShell(script: string, env: Record<string, string>, cwd: string) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(WALLETD_|NODE_)/.test(name));
  const child = endAfterTests(
    spawn('sh', ['-euc', `${FIRST_COMMAND}\n${script}`], {
      cwd,
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
  let said = '';
  const add = (data: Buffer) => {
    said += data.toString();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), COMMAND_MS);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { status, said };
}
