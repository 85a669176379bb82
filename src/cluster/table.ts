/** Record of a member in the registry. */
export interface MemberRecord {
  /** Node name: survives restarts, for people. */
  readonly name: string;
  /** Address at which peers reach the member. */
  readonly host: string;
  readonly port: number;
  /** Availability zone; empty: none. Followers are placed outside the owner's zone if possible. */
  readonly zone: string;
  readonly version: string;
  /** Newest stored format that the member reads. */
  readonly format: number;
  /** Hash of the decision rules; a difference is logged as a warning. */
  readonly rulesHash: string;
  /** The member holds copies for others, and others hold copies for it (`peers:1`). */
  readonly holdsCopies: boolean;
  /** The member hands its shards over and gets none, because its process is about to end. */
  readonly isLeaving: boolean;
  /** The member has no memory for another shard, or had none a while ago. */
  readonly isFull: boolean;
  /** The member has memory for another shard now. An older walletd does not report it. */
  readonly hasRoom: boolean;
  /** The member's clock differs from most others: it takes no shard until an operator sets the clock. */
  readonly isTimeWrong: boolean;
  /** How long the member keeps closed rounds and ids. Undefined for an older walletd, which does not report it. */
  readonly retentionMs: number | undefined;
  /**
   * Id of the member's archive; null: no archive; empty: the archive has not answered yet. Undefined for an older
   * walletd, which does not report it.
   */
  readonly archiveId: string | null | undefined;
  /** Tags of live members that this member has no link to. */
  readonly unreachable: readonly string[];
}

/** Shard assignment: which member should serve each shard. The logs decide which member actually does. */
export interface Plan {
  /** By shard: the owner's tag; empty when no member can own it. */
  readonly owners: readonly string[];
  /** By shard: tags of the followers. */
  readonly followers: readonly (readonly string[])[];
  /** Shards that an operator has placed: they do not move for balance. */
  readonly pinned: readonly number[];
  /** Newest stored format that may be written: all members read it. Never lowered. */
  readonly format: number;
  /** Id of the archive that logs may rely on, as in `MemberRecord`; undefined: no member has reported one. */
  readonly archiveId: string | undefined;
  /** Reason and author, for people. */
  readonly why: string;
  readonly by: string;
}

/**
 * Ownership record: the member serves the shard since its fence of this epoch. With an empty tag the shard has been
 * released.
 */
export interface Claim {
  readonly epoch: number;
  readonly tag: string;
}

export interface RegistryView {
  /** Changes with every change of the registry except heartbeats. Compared for equality only. */
  readonly version: string;
  /** By tag. */
  readonly members: ReadonlyMap<string, MemberRecord>;
  /** Tags of members that an operator is draining. */
  readonly drained: ReadonlySet<string>;
  /** Undefined before the first assignment. */
  readonly plan: Plan | undefined;
  /** By shard. */
  readonly claims: ReadonlyMap<number, Claim>;
}

/** Heartbeat counters by tag; any change is a sign of life. */
export type HeartbeatCounters = ReadonlyMap<string, string>;

export type HeartbeatAnswer =
  /** The caller is not a member, or not any more. */
  | { readonly type: 'gone' }
  /** `view`: undefined while nothing has changed. */
  | { readonly type: 'member'; readonly beats: HeartbeatCounters; readonly view: RegistryView | undefined };

/**
 * Membership registry of a cluster. Soft state: lost records are written again, and no acknowledgement depends on it.
 * All calls reject during an outage.
 */
export interface MembershipRegistry {
  /** Writes the member's record, or replaces it. */
  join(tag: string, record: MemberRecord): Promise<void>;
  /** Writes a heartbeat and reads changes. `known`: version of the caller's view. */
  beat(tag: string, beat: string, known: string): Promise<HeartbeatAnswer>;
  /** Writes an assignment, and removes the dead members `gone`. False when the registry has changed since `version`. */
  putPlan(version: string, plan: Plan, gone: readonly string[]): Promise<boolean>;
  /** Writes an ownership record. A higher epoch wins. */
  claim(shard: number, claim: Claim): Promise<void>;
  /** Releases the caller's ownership record: the caller appends nothing more. */
  release(shard: number, claim: Claim): Promise<void>;
  /** Drains a member, or ends its draining, for an operator. False when there is no such member. */
  drain(tag: string, isDrained: boolean): Promise<boolean>;
  leave(tag: string): Promise<void>;
  /** Reads the registry without being a member. */
  read(): Promise<{ readonly beats: HeartbeatCounters; readonly view: RegistryView }>;
}
