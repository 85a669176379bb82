/** A bug that is planted in a compiled module, and the test that must fail because of it. */
export interface Mutant {
  /** The effect of the bug: a sentence without a period. */
  readonly bug: string;
  /** The source file whose compiled form is changed. */
  readonly file: string;
  /** Exact text, which must occur once in the compiled module. */
  readonly from: string;
  readonly to: string;
  readonly killer: Killer;
}

/** A test that kills mutants. */
export interface Killer {
  /** The source file of the test. */
  readonly file: string;
  /** A part of the test's title. */
  readonly title: string;
}

/** bug, source file, text before, text after, test file, test title */
export type Row = readonly [bug: string, file: string, from: string, to: string, test: string, title: string];

export function toMutant([bug, file, from, to, test, title]: Row): Mutant {
  return { bug, file, from, to, killer: { file: test, title } };
}

/** Compiled form of a source file, relative to the root. */
export function compiledOf(file: string): string {
  return `dist/${file.replace(/\.ts$/, '.js')}`;
}

/** The text of the compiled module with the bug. Throws unless the original text occurs exactly once. */
export function plant({ bug, file, from, to }: Mutant, text: string): string {
  const [head = '', tail, ...more] = text.split(from);
  if (tail === undefined || more.length > 0) {
    const places = tail === undefined ? 0 : more.length + 1;
    throw new Error(`"${bug}": its text occurs ${places} times in ${compiledOf(file)}: ${from}`);
  }
  return head + to + tail;
}
