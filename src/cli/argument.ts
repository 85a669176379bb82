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
