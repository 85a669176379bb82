import { InvalidArgumentError } from 'commander';

/** A parser of an argument whose error becomes what commander shows: a sentence about the argument. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`${(error as Error).message}.`);
    }
  };
}
