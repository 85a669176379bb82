import { EXIT } from '../node/settings/exit-codes.js';

/*
 * Shared parts of the commands. Each command is a file that exports `addX(program)`, which declares its arguments and its
 * help. A command's action runs these steps:
 *
 *   options -> settings -> store -> work, with a bar -> outcome -> text or JSON, exit code
 *              '------- withStore (with-store.ts) ------'          '----- conclude -----'
 */

/** Result of a command, as human-readable text and as JSON. */
export interface Report {
  readonly text: () => string;
  /** Objects to print as JSON, one per line. */
  readonly json: () => Iterable<object>;
}

/** How a command ended. The exit code defaults to `EXIT.ok`. */
export interface Outcome extends Report {
  readonly exitCode?: number;
}

export interface OutputOptions {
  readonly json?: true;
}

/** Prints the outcome and sets the exit code. A command that prints its own output resolves to the exit code alone. */
export async function conclude(ending: Promise<Outcome | number>, options: OutputOptions): Promise<void> {
  const outcome = await ending;
  if (typeof outcome === 'number') {
    process.exitCode = outcome;
  } else {
    print(outcome, options);
    process.exitCode = outcome.exitCode ?? EXIT.ok;
  }
}

export function print({ text, json }: Report, options: OutputOptions): void {
  if (options.json) for (const line of json()) console.log(JSON.stringify(line));
  else console.log(text());
}

interface Help {
  /** Paragraphs that explain the arguments. */
  readonly notes?: readonly string[];
  readonly exitCodes?: string;
  readonly examples: readonly string[];
}

/** Formats the help text that follows a command's options. */
export function helpText({ notes = [], exitCodes, examples }: Help): string {
  const codes = exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`];
  const lines = [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${example}`)];
  return `\n${[...notes, ...codes, lines.join('\n')].join('\n\n')}`;
}
