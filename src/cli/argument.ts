import { InvalidArgumentError } from 'commander';

/** Wraps a parser so that commander reports a parse error as a sentence about the argument. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`${(error as Error).message}.`);
    }
  };
}

/** The same for an option that may be given several times. */
export function collected<T>(parse: (text: string) => T): (text: string, before: readonly T[]) => T[] {
  const parseOne = argument(parse);
  return (text, before) => [...before, parseOne(text)];
}
