const DIGITS = 36;
const PLACEHOLDER = /#+/;
/** With fewer than 36^4 names, two runs are likely to share a name. */
const PLACES_MIN = 4;
/** The largest power of 36 that a double holds exactly. */
const PLACES_MAX = 10;

/**
 * Returns a source of usernames. A number of as many digits and lower-case letters replaces the pattern's run of `#`.
 * `random`, between 0 and 1, selects the first number, because players of former runs still exist.
 */
export function usernamesOf(pattern: string, random: number): () => string {
  const places = mustPlaces(pattern);
  const count = DIGITS ** places;
  let next = Math.floor(random * count);
  return () => {
    const digits = next.toString(DIGITS).padStart(places, '0');
    next = (next + 1) % count;
    return pattern.replace(PLACEHOLDER, digits);
  };
}

/** Returns the length of the number in the pattern. Throws if the pattern is invalid. */
export function mustPlaces(pattern: string): number {
  const [run, ...others] = pattern.match(/#+/g) ?? [];
  if (run === undefined || others.length > 0 || run.length < PLACES_MIN || run.length > PLACES_MAX) {
    throw new Error(`It must have ${PLACES_MIN} to ${PLACES_MAX} # in a row, such as sim#######`);
  }
  return run.length;
}
