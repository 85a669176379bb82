import type { CallbackType } from './callback-type.js';

/** Fields that decide nothing: kept as empty when missing. */
export const NO_GAME = { gameCode: '', playInfo: '' };

type Fields = Record<string, unknown>;

/**
 * Puts stand-ins into the fields that a body may lack, where they are missing or null. True: at least one was filled
 * in. Called only for bodies that the schema refuses, so complete bodies cost nothing.
 */
export function completeBody(body: object, { standIns, txnStandIns }: CallbackType, txnsMax: number): boolean {
  let isCompleted = fill(body as Fields, standIns);
  const { txns } = body as { readonly txns?: unknown };
  // Longer arrays are refused anyway.
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
