import type { MemberRecord, Plan } from './table.js';

/** Defaults for fields that an older walletd does not write. */
const UNSAID_OF_MEMBER: Omit<MemberRecord, 'name' | 'host' | 'port' | 'version' | 'format'> = {
  zone: '',
  rulesHash: '',
  isLeaving: false,
  isFull: false,
  hasRoom: false,
  isTimeWrong: false,
  retentionMs: undefined,
  archiveId: undefined,
  unreachable: [],
};

const UNSAID_OF_PLAN: Omit<Plan, 'owners' | 'followers' | 'format'> = {
  pinned: [],
  archiveId: undefined,
  why: '',
  by: '',
};

/*
 * The registry outlives every walletd that writes to it, and nodes of several versions share it. A version ignores
 * fields that it does not know, and uses defaults for fields that are absent.
 */

export function memberOf(json: string): MemberRecord {
  return { ...UNSAID_OF_MEMBER, ...JSON.parse(json) };
}

export function planOf(json: string): Plan {
  return { ...UNSAID_OF_PLAN, ...JSON.parse(json) };
}
