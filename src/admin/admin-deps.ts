import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { ConnectionCounts } from '../listener/connection-counts.js';
import type { AmountLimits, ScaleTable } from '../wallet/amount.js';
import type { OperationCommand } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { HandLimit, HandMaxima } from '../wallet/hand-limits.js';
import type { LedgerKind } from '../wallet/ledger-kind.js';
import type { PlayerQuery, Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { Operator } from '../wallet/state/operation.js';
import type { Moment, Overview } from './console/overview.js';
import type { SignedOutSessions } from './console/signed-out-sessions.js';
import type { StoreSearcher } from './store-searcher.js';

/** An operation, and who asks for it. */
export type SignedCommand = OperationCommand & { readonly by: Operator };

/** Owns the wallets. */
export interface OperatorService {
  readonly shardCount: number;
  operate(command: SignedCommand): Promise<Answer>;
  ask(question: PlayerQuery): Promise<QueryResult | BusyAnswer>;
  askShard(shard: number, question: Query): Promise<QueryResult | BusyAnswer>;
  readonly readiness: 'ready' | 'starting' | 'archive-unknown';
  /** One result for each shard that serves. */
  takeSnapshots(): Promise<readonly object[]>;
  status(): readonly object[];
}

/** Why what was asked of the cluster is not done. */
export type ClusterRefusal = 'no-such-node' | 'node-takes-none' | 'table-has-changed';

/** A shard that went from one node to another: see src/cluster/move-history.ts. */
export interface ShardMove {
  readonly shard: number;
  readonly from: string | null;
  readonly to: string;
  readonly epoch: number;
  readonly timeMs: number;
  readonly tookMs: number | null;
  readonly why: string | null;
  readonly by: string | null;
}

/** The nodes that share the shards. What it promises rejects during an outage. */
export interface ClusterService {
  /** As JSON; undefined before its table has answered. */
  readonly status: object | undefined;
  /** Shards that went from one node to another, newest first. */
  readonly moves: readonly ShardMove[];
  /** The node gives its shards away, or may have some again. */
  drain(node: string, isDrained: boolean): Promise<ClusterRefusal | undefined>;
  /** The shard goes to the node; `by` is for people. */
  moveShard(shard: number, node: string, by: string): Promise<ClusterRefusal | undefined>;
}

export interface VerifyBegun {
  readonly startedMs: number;
  readonly by: Operator;
  /** From the oldest entry that there is. */
  readonly isDeep: boolean;
}

/** What a verification of the store has found. */
export interface VerifySummary {
  readonly entries: number;
  readonly events: number;
  readonly players: number;
  readonly snapshots: number;
  /** Players whose balance in the log was compared with the one that is served, and those who had played on meanwhile. */
  readonly compared: number;
  readonly movedOn: number;
  /** Losses that were accepted, a sentence each. */
  readonly accepted: readonly string[];
  /** The first ones of all `currencies`; sums are decimal text. */
  readonly books: readonly {
    readonly currency: string;
    readonly players: number;
    readonly sums: Readonly<Record<'opening' | LedgerKind | 'balances' | 'difference', string>>;
  }[];
  readonly currencies: number;
  /** How many things are wrong; the first ones of each type are in `findings`. */
  readonly found: number;
  readonly findings: readonly { readonly type: string; readonly message: string }[];
}

export type VerifyResult =
  | { readonly type: 'verified'; readonly summary: VerifySummary }
  | { readonly type: 'failed'; readonly reason: string };

export interface VerifyEnded extends VerifyBegun {
  readonly endedMs: number;
  readonly result: VerifyResult;
}

/** Checks the whole store, one time after the other. */
export interface VerifyService {
  /** Undefined: nothing runs. Of `total` log entries so many are `done`; 0 while that is not known. */
  readonly running: (VerifyBegun & { readonly done: number; readonly total: number }) | undefined;
  readonly last: VerifyEnded | undefined;
  /** False: one runs already. */
  begin(by: Operator, isDeep: boolean): boolean;
}

export type Role = 'read' | 'operate';

/** The token identifies this operator. `read` may look at everything, `operate` may also change it. */
export interface OperatorToken {
  readonly name: string;
  readonly role: Role;
  readonly token: string;
}

/** What watches the process from outside. */
export interface Observability {
  /** In Prometheus' text format, and its content type. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** The OpenAPI document of both listeners, made of the paths and schemas of this one. */
  readonly openapi: (paths: object, schemas: object) => object;
}

/** What the console shows live. */
export interface OverviewSource {
  /** Somebody begins to look: the first `take` counts from here. */
  begin(): void;
  /** How things are, and what has happened since the last call. */
  take(): Overview;
  lastHour(): readonly Moment[];
}

/** A snapshot in the store: see src/tools/snapshots/snapshot-overview.ts. */
export interface KeptSnapshot {
  readonly shard: number;
  readonly id: string;
  readonly state: 'whole' | 'damaged' | 'unfinished';
  readonly reason?: string;
  readonly start?: string;
  readonly end?: string;
  readonly timeMs?: number;
  readonly players?: number;
  readonly bytes?: number;
  readonly chunks?: number;
}

/** The settings that a node works by. */
export interface SettingsInForce {
  /** Null where it is alone. */
  readonly node: string | null;
  readonly settings: readonly {
    readonly setting: string;
    /** As JSON has it; null: unset. Secrets are hidden. */
    readonly value: unknown;
    /** `default`, or the variable or file that it comes from. */
    readonly from: string;
    readonly meaning: string;
  }[];
}

/** PEM. */
export interface Certificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface AdminSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** None: this machine may operate. */
  readonly tokens: readonly OperatorToken[];
  /** Undefined: plain HTTP. */
  readonly tls: Certificate | undefined;
  /** The id of the store behind all of it, so that tools know whether they look at the same one. */
  readonly storeId: string;
  /** Ids of the stores that it was made from. */
  readonly restoredFrom: readonly string[];
  readonly scales: ScaleTable;
  readonly amountLimits: AmountLimits;
  readonly handMaxima: HandMaxima;
  readonly importLinesMax: number;
  /** How long a connection stays open after an answer. */
  readonly idleMs: number;
}

/** Why a request was turned away before it was looked at. */
export type TokenRefusal =
  | 'no token'
  | 'wrong token'
  | 'too many wrong tokens'
  | 'the role read'
  | 'not asked by this machine itself'
  | 'no session'
  | 'not sent by the console';

/** Hears what the operator API does. */
export interface AdminObserver {
  /** `route` as in the OpenAPI document, `GET /v1/players/{username}`; `other` where there is none. */
  answered(route: string, status: number | 'aborted'): void;
  refused(reason: TokenRefusal): void;
  /** An operation would have moved more money by hand than this limit allows. */
  limited(limit: HandLimit): void;
}

export interface AdminDeps {
  readonly settings: AdminSettings;
  readonly service: OperatorService;
  readonly searcher: StoreSearcher;
  /** Undefined where this node is alone. */
  readonly cluster: ClusterService | undefined;
  readonly observability: Observability;
  readonly overview: OverviewSource;
  readonly verifier: VerifyService;
  readonly settingsInForce: () => SettingsInForce;
  /** Rejects during an outage. */
  readonly keptSnapshots: () => Promise<readonly KeptSnapshot[]>;
  readonly observer: AdminObserver;
  readonly signedOut: SignedOutSessions;
  readonly counts: ConnectionCounts;
  readonly clock: Clock;
  readonly log: Logger;
}
