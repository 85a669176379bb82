/**
 * Kinds of transactions.
 *
 *   bet         a stake: OPEN or WAITING, then closed. Also the bet of a single-state round.
 *   tip         TIPS, or REFUND. An unknown tip that was credited when it was cancelled: REFUND.
 *   settlement  the payout of a round (BY_ROUND), with an id of its own: SETTLED or VOID.
 *   tombstone   a cancel of an unknown id: REFUND.
 *   mark        a cancel of an unknown round: REFUND, no id.
 *   reward      a payout that is not the result of a bet: SETTLED or VOID.
 *   debit       money that a game took from the player (adjustBalance): SETTLED.
 *   credit      money that a game gave back to the player (adjustBalance): SETTLED.
 */
export type TransactionKind = 'bet' | 'tip' | 'settlement' | 'tombstone' | 'mark' | 'reward' | 'debit' | 'credit';

export const KINDS: readonly TransactionKind[] = [
  'bet',
  'tip',
  'settlement',
  'tombstone',
  'mark',
  'reward',
  'debit',
  'credit',
];

/* The position of the kind in a transaction's flags; see transaction-record.ts. All eight values are in use. */
export const KIND_SHIFT = 3;
export const KIND_MASK = 0b111 << KIND_SHIFT;

export const SETTLEMENT = KINDS.indexOf('settlement') << KIND_SHIFT;
export const MARK = KINDS.indexOf('mark') << KIND_SHIFT;
const REWARD = KINDS.indexOf('reward') << KIND_SHIFT;

/** A scope in which an id is unique, shared by all kinds with the same namespace. */
export type Namespace = 'bet' | 'reward' | 'debit' | 'credit';

/** The namespace number of the kind in these flags. Bets, tips and tombstones share namespace 0. */
export function namespaceIn(facts: number): number {
  const kind = facts & KIND_MASK;
  return kind < REWARD ? 0 : kind >> KIND_SHIFT;
}

export function numberOf(namespace: Namespace): number {
  return namespace === 'bet' ? 0 : KINDS.indexOf(namespace);
}

/** True for kinds that are indexed by id. Settlements are found through their round, and marks have no id. */
export function isNamedById(facts: number): boolean {
  const kind = facts & KIND_MASK;
  return kind !== SETTLEMENT && kind !== MARK;
}
