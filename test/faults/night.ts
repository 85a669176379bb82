import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { runWalletd } from '../support/walletd-process.js';
import type { Scene } from './scene.js';

/*
 * A page of docs/runbook.md, carried out. A command is run as it stands on the page, and one that is not on the page of its
 * night fails: so neither can change without the other.
 */
const PAGE = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

/** One night: its section, and what its variables stand for. */
export class Night {
  private readonly section: string;

  constructor(
    private readonly scene: Scene,
    title: string,
    private readonly variables: Readonly<Record<string, string>>,
  ) {
    const section = PAGE.split(/^## /m).find((one) => one.startsWith(title));
    assert.ok(section !== undefined, `the runbook has no night "${title}"`);
    this.section = section;
  }

  /** Runs a command of the page; it has to succeed. */
  async run(command: string): Promise<string> {
    return await this.scene.run(...this.wordsOf(command));
  }

  /** The same for a command that asks the server of these settings. */
  runAt(settings: Readonly<Record<string, string>>, command: string): string {
    const { status, stdout, stderr } = this.try(command, settings);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  /** Runs a command of the page, whatever comes of it. */
  try(command: string, settings: Readonly<Record<string, string>> = {}): ReturnType<typeof runWalletd> {
    return runWalletd(this.wordsOf(command), settings);
  }

  /** The same for one that asks, as the page says: without a terminal it is refused, and `--yes` is the answer. */
  runAndSayYes(settings: Readonly<Record<string, string>>, command: string): string {
    assert.match(this.section, /\basks\b/);
    const asked = runWalletd(this.wordsOf(command), settings);
    assert.equal(asked.status, 1);
    assert.match(asked.stderr, /cannot ask without a terminal/);
    const { status, stdout, stderr } = runWalletd([...this.wordsOf(command), '--yes'], settings);
    assert.equal(status, 0, stdout + stderr);
    return asked.stdout + asked.stderr;
  }

  /** Runs the shell's command of the page that begins with this word, over several lines perhaps; it has to succeed. */
  runInShell(word: string): string {
    const commands = [...this.section.matchAll(/```sh\n([^`]*)```/g)].map(([, command = '']) => command.trim());
    const command = commands.find((one) => one.startsWith(`${word} `));
    assert.ok(command !== undefined, `the page of this night has no command ${word}`);
    const env = { ...process.env, ...this.variables };
    const { status, stdout, stderr } = spawnSync('sh', ['-euc', command], { encoding: 'utf8', env });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  private wordsOf(command: string): string[] {
    this.mustSay(command);
    const [name, ...words] = this.filled(command).split(' ');
    assert.equal(name, 'walletd');
    return words;
  }

  mustSay(words: string): void {
    assert.ok(this.section.includes(words), `the page of this night does not say: ${words}`);
  }

  private filled(command: string): string {
    return command.replaceAll(/\$([A-Z_]+)/g, (variable, name: string) => this.variables[name] ?? variable);
  }
}
