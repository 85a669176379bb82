import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

/*
 * Parser for the runbook pages, docs/runbook*.md:
 *
 *   ## 1. Title of the incident
 *   1. *If there is a reason:* what to do.     a step; a step that begins with "If" is for that case only
 *
 *      ```sh                                   its commands, one block after another; a step without commands is manual
 *
 * A table with the head "variable" lists every variable in the commands.
 */
const DOCS = new URL('../../../docs/', import.meta.url);
const FENCE = /^( *)```sh\n([\s\S]*?)^ *```$/gm;
const STEP = /^(?=\d+\. )/m;

export interface Step {
  readonly number: number;
  /** The step without its commands, joined into one line. */
  readonly prose: string;
  /** Each command is a shell script. */
  readonly commands: readonly string[];
  readonly isConditional: boolean;
}

export interface NightOnPage {
  readonly title: string;
  readonly steps: readonly Step[];
}

const PAGES = readdirSync(DOCS)
  .filter((name) => /^runbook.*\.md$/.test(name))
  .map((name) => readFileSync(new URL(name, DOCS), 'utf8'));
const SECTIONS = PAGES.flatMap((page) => page.split(/^## /m).slice(1));

/** All incidents on all pages. */
export const NIGHTS: readonly NightOnPage[] = SECTIONS.filter((section) => /^\d+\. /.test(section)).map(nightOf);

/** Variables explained on the pages, without their dollar signs. */
export const VARIABLES: ReadonlySet<string> = new Set(SECTIONS.flatMap(variablesOf));

/** Commands with which every shell session starts. */
export const FIRST_COMMAND: string = mustFirstCommand();

export function mustNight(number: number): NightOnPage {
  const night = NIGHTS.find(({ title }) => title.startsWith(`${number}. `));
  assert.ok(night !== undefined, `the runbook has no night ${number}`);
  return night;
}

/** Commands in an incident's prose, where no test would run them. */
export function commandsInText({ steps }: NightOnPage): string[] {
  const programs = /^(walletd \S+ \S|systemctl |redis-cli |psql |pg_dump |curl |kill |mv |export )/;
  const inline = steps.flatMap(({ prose }) => [...prose.matchAll(/`([^`]+)`/g)]);
  return inline.map(([, code = '']) => code).filter((code) => programs.test(code));
}

function nightOf(section: string): NightOnPage {
  const [head = '', ...steps] = section.split(STEP);
  const [title = ''] = head.split('\n');
  assert.deepEqual(commandsOf(head), [], `night ${title}: its commands are in steps`);
  return { title, steps: steps.map(stepOf) };
}

function stepOf(section: string): Step {
  const [, number = '', text = ''] = /^(\d+)\. ([\s\S]*)$/.exec(section) ?? [];
  return {
    number: Number(number),
    prose: text.replace(FENCE, '').replace(/\s+/g, ' '),
    commands: commandsOf(text),
    isConditional: text.startsWith('*If '),
  };
}

function commandsOf(text: string): string[] {
  return [...text.matchAll(FENCE)].map(([, indent = '', script = '']) =>
    script
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n')
      .trim(),
  );
}

function variablesOf(section: string): string[] {
  const table = /^\| variable \|[^\n]*\n(?:\|[^\n]*\n)+/m.exec(section)?.[0] ?? '';
  return table.split('\n').flatMap((row) => {
    const names = /^\| ([^|]*) \|/.exec(row)?.[1] ?? '';
    return [...names.matchAll(/`\$([A-Z_]+)`/g)].map(([, name = '']) => name);
  });
}

function mustFirstCommand(): string {
  const section = SECTIONS.find((one) => one.startsWith('Before the first command'));
  const [command] = commandsOf(section ?? '');
  assert.ok(command !== undefined, 'the runbook says how a shell begins');
  return command;
}
