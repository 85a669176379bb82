/**
 * True if the rare variants of tests run too: in the nightly run, in a run of test files that match a pattern, and in the
 * runs of mutants.
 */
export const IS_NIGHTLY = process.env.NIGHTLY === '1';

/** Options of a test that only the nightly run needs, because `covered` names what covers its rule in each run. */
export function nightly(covered: string): { readonly skip: string | false } {
  return { skip: IS_NIGHTLY ? false : `only with NIGHTLY=1: ${covered}` };
}
