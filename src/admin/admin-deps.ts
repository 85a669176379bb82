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

/** An operation with the operator who asks for it. */
export type SignedCommand = OperationCommand & { readonly by: Operator };

/** Owner of the wallets. */
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

/** Reasons why the cluster refuses a request. */
export type ClusterRefusal = 'no-such-node' | 'node-takes-none' | 'table-has-changed';

/** A shard's transfer between nodes: see src/cluster/move-history.ts. */
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

/** The nodes that share the shards. Promises reject during an outage. */
export interface ClusterService {
  /** JSON; undefined before the membership registry has answered. */
  readonly status: object | undefined;
  /** Transfers of shards between nodes, newest first. */
  readonly moves: readonly ShardMove[];
  /** Drains the node, or lets it have shards again. */
  drain(node: string, isDrained: boolean): Promise<ClusterRefusal | undefined>;
  /** Transfers the shard to the node; `by` is for people. */
  moveShard(shard: number, node: string, by: string): Promise<ClusterRefusal | undefined>;
}

export interface VerifyBegun {
  readonly startedMs: number;
  readonly by: Operator;
  /** True: begins with the oldest entry. */
  readonly isDeep: boolean;
}

/** Result of a verification of the store. */
export interface VerifySummary {
  readonly entries: number;
  readonly events: number;
  readonly players: number;
  readonly snapshots: number;
  /**
   * Players whose balance in the log was compared with the served balance, and players whose balance had changed
   * meanwhile.
   */
  readonly compared: number;
  readonly movedOn: number;
  /** Accepted losses, a sentence each. */
  readonly accepted: readonly string[];
  /** First rows of all `currencies`; sums are decimal text. */
  readonly books: readonly {
    readonly currency: string;
    readonly players: number;
    readonly sums: Readonly<Record<'opening' | LedgerKind | 'balances' | 'difference', string>>;
  }[];
  readonly currencies: number;
  /** Number of errors; `findings` holds the first ones of each type. */
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

/** Verifies the whole store, one verification at a time. */
export interface VerifyService {
  /**
   * Undefined: no verification runs. `done` of `total` log entries are verified; both are 0 while the total is unknown.
   */
  readonly running: (VerifyBegun & { readonly done: number; readonly total: number }) | undefined;
  readonly last: VerifyEnded | undefined;
  /** False: one already runs. */
  begin(by: Operator, isDeep: boolean): boolean;
}

export type Role = 'read' | 'operate';

/** Operator that the token identifies. `read` may look at everything; `operate` may also change it. */
export interface OperatorToken {
  readonly name: string;
  readonly role: Role;
  readonly token: string;
}

/** Interfaces for outside monitoring. */
export interface Observability {
  /** Prometheus' text format, with its content type. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** OpenAPI document of both listeners, with the paths and schemas of this one. */
  readonly openapi: (paths: object, schemas: object) => object;
}

/** Live data of the console. */
export interface OverviewSource {
  /** Called when the first viewer arrives: the first `take` counts from here. */
  begin(): void;
  /** Current state, and the activity since the last call. */
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

/** Settings in force on a node. */
export interface SettingsInForce {
  /** Null when the node is alone. */
  readonly node: string | null;
  readonly settings: readonly {
    readonly setting: string;
    /** JSON value; null: unset. Secrets are hidden. */
    readonly value: unknown;
    /** Source: `default`, a variable or a file. */
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
  /** 0 takes a free port. */
  readonly port: number;
  /** Empty: every program on this machine may operate. */
  readonly tokens: readonly OperatorToken[];
  /** Undefined: plain HTTP. */
  readonly tls: Certificate | undefined;
  /** Id of the store that all answers come from, so that tools can compare stores. */
  readonly storeId: string;
  /** Ids of the stores that this store was restored from. */
  readonly restoredFrom: readonly string[];
  readonly scales: ScaleTable;
  readonly amountLimits: AmountLimits;
  readonly handMaxima: HandMaxima;
  readonly importLinesMax: number;
  /** Time that a connection stays open after an answer. */
  readonly idleMs: number;
}

/** Reasons why a request is refused before it is read. */
export type TokenRefusal =
  | 'no token'
  | 'wrong token'
  | 'too many wrong tokens'
  | 'the role read'
  | 'not asked by this machine itself'
  | 'no session'
  | 'not sent by the console';

/** Observes the operator API. */
export interface AdminObserver {
  /** `route` as in the OpenAPI document, `GET /v1/players/{username}`; `other` for an unknown route. */
  answered(route: string, status: number | 'aborted'): void;
  refused(reason: TokenRefusal): void;
  /** An operation would have moved more money by hand than this limit allows. */
  limited(limit: HandLimit): void;
}

export interface AdminDeps {
  readonly settings: AdminSettings;
  readonly service: OperatorService;
  readonly searcher: StoreSearcher;
  /** Undefined when this node is alone. */
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
