/**
 * bet         a stake: OPEN or WAITING, then closed. Also the bet of a single-state round.
 * tip         TIPS, or REFUND; of an unknown one that was cancelled and believed: REFUND.
 * settlement  the payout of a round (BY_ROUND), with an id of its own: SETTLED or VOID.
 * tombstone   a cancel of an unknown id: REFUND.
 * mark        a cancel of an unknown round: REFUND, no id.
 * reward      a payout that is no result of a bet: SETTLED or VOID.
 * debit       money that a game took from the player (adjustBalance), or gave back: SETTLED.
 * credit
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

/* Where the kind is among the facts of a transaction; see transaction-record.ts. All eight places are taken. */
export const KIND_SHIFT = 3;
export const KIND_MASK = 0b111 << KIND_SHIFT;

export const SETTLEMENT = KINDS.indexOf('settlement') << KIND_SHIFT;
export const MARK = KINDS.indexOf('mark') << KIND_SHIFT;
const REWARD = KINDS.indexOf('reward') << KIND_SHIFT;

/** Where an id has to be the only one: what has the same namespace shares it. */
export type Namespace = 'bet' | 'reward' | 'debit' | 'credit';

/** Of the kind in these facts, as a number: bets, tips and tombstones share 0. */
export function namespaceIn(facts: number): number {
  const kind = facts & KIND_MASK;
  return kind < REWARD ? 0 : kind >> KIND_SHIFT;
}

export function numberOf(namespace: Namespace): number {
  return namespace === 'bet' ? 0 : KINDS.indexOf(namespace);
}

/** True for what is found by its id: a settlement is found in its round, and a mark has none. */
export function isNamedById(facts: number): boolean {
  const kind = facts & KIND_MASK;
  return kind !== SETTLEMENT && kind !== MARK;
}
