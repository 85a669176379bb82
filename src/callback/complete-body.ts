import type { CallbackType } from './callback-type.js';

/** Defaults of the game fields, which do not affect the decision. */
export const NO_GAME = { gameCode: '', playInfo: '' };

type Fields = Record<string, unknown>;

/**
 * Fills in defaults for optional fields that are missing or null. Returns true if it filled in at least one. Called
 * only for bodies that the schema refuses, so that complete bodies cost nothing.
 */
export function completeBody(body: object, { standIns, txnStandIns }: CallbackType, txnsMax: number): boolean {
  let isCompleted = fill(body as Fields, standIns);
  const { txns } = body as { readonly txns?: unknown };
  // The schema refuses longer arrays anyway.
  if (!Array.isArray(txns) || txns.length > txnsMax) return isCompleted;
  for (const txn of txns as unknown[]) {
    if (typeof txn === 'object' && txn !== null && fill(txn as Fields, txnStandIns)) isCompleted = true;
  }
  return isCompleted;
}

function fill(fields: Fields, standIns: Readonly<Fields>): boolean {
  let isFilled = false;
  for (const name of Object.keys(standIns)) {
    if (fields[name] !== undefined && fields[name] !== null) continue;
    fields[name] = standIns[name];
    isFilled = true;
  }
  return isFilled;
}
