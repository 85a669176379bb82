import { EXIT } from '../node/exit-codes.js';

/*
 * What verbs share. A verb is a file that exports `addX(program)`: it declares its arguments and its help, and its
 * action goes this way:
 *
 *   options -> settings -> store -> work, with a bar -> outcome -> text or JSON, exit code
 *              '------- withStore (with-store.ts) ------'          '----- conclude -----'
 */

/** What a verb has to say, once for people and once for scripts. */
export interface Report {
  readonly text: () => string;
  /** Each object becomes a line. */
  readonly json: () => Iterable<object>;
}

/** How a verb ends; with `EXIT.ok`, unless it says otherwise. */
export interface Outcome extends Report {
  readonly exitCode?: number;
}

export interface OutputOptions {
  readonly json?: true;
}

/** Prints the outcome and sets the exit code. A verb that prints everything by itself resolves to the code alone. */
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
  /** Paragraphs about the arguments. */
  readonly notes?: readonly string[];
  readonly exitCodes?: string;
  readonly examples: readonly string[];
}

/** What follows the options in the help of a verb. */
export function helpText({ notes = [], exitCodes, examples }: Help): string {
  const codes = exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`];
  const lines = [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${example}`)];
  return `\n${[...notes, ...codes, lines.join('\n')].join('\n\n')}`;
}
