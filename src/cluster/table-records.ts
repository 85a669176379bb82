import type { MemberRecord, Plan } from './table.js';

/** What a record says that its walletd does not know to write, because it is an older one. */
const UNSAID_OF_MEMBER: Omit<MemberRecord, 'name' | 'host' | 'port' | 'version' | 'format'> = {
  zone: '',
  rulesHash: '',
  holdsCopies: false,
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
 * The table outlives every walletd that writes to it, and nodes of several versions share it: what one does not know is not
 * there, or is left alone.
 */

export function memberOf(json: string): MemberRecord {
  return { ...UNSAID_OF_MEMBER, ...JSON.parse(json) };
}

export function planOf(json: string): Plan {
  return { ...UNSAID_OF_PLAN, ...JSON.parse(json) };
}
