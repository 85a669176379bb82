/** What a member tells the others of itself. */
export interface MemberRecord {
  /** Survives restarts, for people. */
  readonly name: string;
  /** Where its peers reach it. */
  readonly host: string;
  readonly port: number;
  /** Who follows a shard is in another zone than its owner, if that can be; empty: none. */
  readonly zone: string;
  readonly version: string;
  /** The newest stored format that it reads. */
  readonly format: number;
  /** Members that decide by other rules are warned of. */
  readonly rulesHash: string;
  /** It holds what others write, and what it writes others hold (`peers:1`). */
  readonly holdsCopies: boolean;
  /** It gives its shards away and gets none, because its process is to end. */
  readonly isLeaving: boolean;
  /** It has no memory for another shard, or had none a while ago. */
  readonly isFull: boolean;
  /** It has memory for another shard now. An older walletd does not say. */
  readonly hasRoom: boolean;
  /** Its clock is off, as most others see it: it takes no shard until somebody sets it. */
  readonly isTimeWrong: boolean;
  /** How long it keeps closed rounds and ids. Undefined: an older walletd, which does not say. */
  readonly retentionMs: number | undefined;
  /** Id of its archive; null: it has none; empty: it has not seen its archive yet. Undefined: an older walletd, which does not say. */
  readonly archiveId: string | null | undefined;
  /** Tags of members that live and that it has no link to. */
  readonly unreachable: readonly string[];
}

/** Who should have which shard. Which member has it, the logs say. */
export interface Plan {
  /** By shard: the owner's tag; empty where nobody can have it. */
  readonly owners: readonly string[];
  /** By shard: tags of those that follow. */
  readonly followers: readonly (readonly string[])[];
  /** Shards that an operator has put where they are: they do not move for balance. */
  readonly pinned: readonly number[];
  /** The newest stored format that may be written: all members read it. Never lowered. */
  readonly format: number;
  /** Id of the archive that logs may rely on, as `MemberRecord` has it; undefined: no member has told of one. */
  readonly archiveId: string | undefined;
  /** For people: what made it, and who. */
  readonly why: string;
  readonly by: string;
}

/** A shard that a member serves, since its fence of this epoch; with an empty tag it has let go of it. */
export interface Claim {
  readonly epoch: number;
  readonly tag: string;
}

export interface TableView {
  /** Another one whenever anything but a beat has changed. Compared for equality only. */
  readonly version: string;
  /** By tag. */
  readonly members: ReadonlyMap<string, MemberRecord>;
  /** Tags of members that an operator has told to give their shards away. */
  readonly drained: ReadonlySet<string>;
  /** Undefined before the first one. */
  readonly plan: Plan | undefined;
  /** By shard. */
  readonly claims: ReadonlyMap<number, Claim>;
}

/** By tag: any change is life. */
export type Beats = ReadonlyMap<string, string>;

export type BeatAnswer =
  /** It is no member, or none any more. */
  | { readonly type: 'gone' }
  /** `view`: undefined while nothing has changed. */
  | { readonly type: 'member'; readonly beats: Beats; readonly view: TableView | undefined };

/**
 * Where members of a cluster see each other. Soft state: what is lost is written again, and nothing that was told depends
 * on it. Everything rejects during an outage.
 */
export interface ClusterTable {
  /** Also replaces what it has said of itself before. */
  join(tag: string, record: MemberRecord): Promise<void>;
  /** `known`: the version of the view that it has. */
  beat(tag: string, beat: string, known: string): Promise<BeatAnswer>;
  /** False when the table has changed since `version`. Members that are gone are removed with it. */
  putPlan(version: string, plan: Plan, gone: readonly string[]): Promise<boolean>;
  /** A claim of a higher epoch wins. */
  claim(shard: number, claim: Claim): Promise<void>;
  /** Who has claimed it lets go of it: it appends nothing more. */
  release(shard: number, claim: Claim): Promise<void>;
  /** An operator's word. False when there is no such member. */
  drain(tag: string, isDrained: boolean): Promise<boolean>;
  leave(tag: string): Promise<void>;
  /** What is there, for those who are no members. */
  read(): Promise<{ readonly beats: Beats; readonly view: TableView }>;
}
