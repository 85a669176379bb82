/** A record of a member in the registry. */
export interface MemberRecord {
  /** The human-readable node name, which survives restarts. */
  readonly name: string;
  /** The address at which peers reach the member. */
  readonly host: string;
  readonly port: number;
  /** Availability zone; empty if there is none. Followers are placed outside the owner's zone if possible. */
  readonly zone: string;
  readonly version: string;
  /** The newest stored format that the member can read. */
  readonly format: number;
  /** The hash of the decision rules. If members differ, a warning is logged. */
  readonly rulesHash: string;
  /** True if the member hands over its shards and gets no new ones, because its process is about to end. */
  readonly isLeaving: boolean;
  /** True if the member has no memory for another shard, or had none until recently. */
  readonly isFull: boolean;
  /** True if the member has memory for another shard now. An older walletd does not report it. */
  readonly hasRoom: boolean;
  /**
   * True if the member's clock differs from most others. The member then takes no shards until an operator sets the
   * clock.
   */
  readonly isTimeWrong: boolean;
  /** How long the member keeps closed rounds and ids. Undefined for an older walletd, which does not report it. */
  readonly retentionMs: number | undefined;
  /**
   * The id of the member's archive. Null if it has no archive, and empty if the archive has not answered yet. Undefined
   * for an older walletd, which does not report it.
   */
  readonly archiveId: string | null | undefined;
  /** Tags of live members to which this member has no link. */
  readonly unreachable: readonly string[];
}

/** The shard assignment: which member should serve each shard. The logs decide which member actually serves it. */
export interface Plan {
  /** By shard: the owner's tag; empty if no member can own the shard. */
  readonly owners: readonly string[];
  /** By shard: tags of the followers. */
  readonly followers: readonly (readonly string[])[];
  /** Shards that an operator has placed. Balancing does not move them. */
  readonly pinned: readonly number[];
  /** The newest stored format that may be written, because all members can read it. It is never lowered. */
  readonly format: number;
  /** The id of the archive that logs may rely on, as in `MemberRecord`; undefined if no member has reported one. */
  readonly archiveId: string | undefined;
  /** The reason and author, in human-readable form. */
  readonly why: string;
  readonly by: string;
}

/**
 * Ownership record: the member has served the shard since its fence of this epoch. An empty tag means that the shard
 * has been released.
 */
export interface Claim {
  readonly epoch: number;
  readonly tag: string;
}

export interface RegistryView {
  /** Changes with every change of the registry except heartbeats. Only compared for equality. */
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

/** Heartbeat counters by tag. Any change is a sign of life. */
export type HeartbeatCounters = ReadonlyMap<string, string>;

export type HeartbeatAnswer =
  /** Thrown if the caller is not a member, or is no longer one. */
  | { readonly type: 'gone' }
  /** `view` is undefined if nothing has changed. */
  | { readonly type: 'member'; readonly heartbeats: HeartbeatCounters; readonly view: RegistryView | undefined };

/**
 * Membership registry of a cluster. It is soft state: lost records are written again, and no acknowledgement depends on
 * it. All calls reject during an outage.
 */
export interface MembershipRegistry {
  /** Writes or replaces the member's record. */
  join(tag: string, record: MemberRecord): Promise<void>;
  /** Writes a heartbeat and reads changes. `known` is the version of the caller's view. */
  heartbeat(tag: string, counter: string, known: string): Promise<HeartbeatAnswer>;
  /**
   * Writes an assignment, and removes the dead members `gone`. Returns false if the registry has changed since
   * `version`.
   */
  putPlan(version: string, plan: Plan, gone: readonly string[]): Promise<boolean>;
  /** Writes an ownership record. The higher epoch wins. */
  claim(shard: number, claim: Claim): Promise<void>;
  /** Releases the caller's ownership record. The caller must append nothing more. */
  release(shard: number, claim: Claim): Promise<void>;
  /** Starts or stops draining a member, for an operator. Returns false if there is no such member. */
  drain(tag: string, isDrained: boolean): Promise<boolean>;
  leave(tag: string): Promise<void>;
  /** Reads the registry without being a member. */
  read(): Promise<{ readonly heartbeats: HeartbeatCounters; readonly view: RegistryView }>;
}
