/** The heading in docs/debugging.md that helps with each kind of failure, by a pattern of the failure's message. */
const SECTIONS: readonly (readonly [RegExp, string])[] = [
  [/ was answered /, 'A wrong answer'],
  [/^not within \d+ ms/, 'A run that does not come to rest'],
  [/differs from the answers|adds up to|events follow each other/, 'Books that disagree'],
];
const OTHER_SECTION = 'An assertion or an uncaught error';

/** The heading in docs/debugging.md about this kind of failure. */
export function sectionOf({ message }: Error): string {
  return SECTIONS.find(([pattern]) => pattern.test(message))?.[1] ?? OTHER_SECTION;
}

/** The failure with its stack, the command that repeats the run, and the part of docs/debugging.md to read. */
export function describeFailure(failure: Error, repeat: string): string {
  const frames = (failure.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return [
    [`${failure.name}: ${failure.message}`, ...frames].join('\n'),
    `The same again: ${repeat}\nHow to read it: docs/debugging.md, "${sectionOf(failure)}"`,
  ].join('\n\n');
}
