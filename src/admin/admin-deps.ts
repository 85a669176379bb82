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
import type { FeedService } from './feed-service.js';
import type { StoreSearcher } from './store-searcher.js';

/** A command with the operator who sent it. */
export type SignedCommand = OperationCommand & { readonly by: Operator };

/** Service that executes operator commands on the wallets. */
export interface OperatorService {
  readonly shardCount: number;
  operate(command: SignedCommand): Promise<Answer>;
  ask(question: PlayerQuery): Promise<QueryResult | BusyAnswer>;
  askShard(shard: number, question: Query): Promise<QueryResult | BusyAnswer>;
  readonly readiness: 'ready' | 'starting' | 'warming-up' | 'archive-unknown';
  /** Resolves to one result for each shard that is being served. */
  takeSnapshots(): Promise<readonly object[]>;
  status(): readonly object[];
}

/** Reasons why the cluster refuses a request. */
export type ClusterRefusal = 'no-such-node' | 'node-takes-none' | 'table-has-changed';

/** Transfer of a shard between nodes; see src/cluster/move-history.ts. */
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

/** Cluster commands and state. Promises reject during a store outage. */
export interface ClusterService {
  /** Serializable as JSON; undefined until the membership registry has responded. */
  readonly status: object | undefined;
  /** Transfers of shards between nodes, newest first. */
  readonly moves: readonly ShardMove[];
  /** Drains the node, or makes it eligible for shards again. */
  drain(node: string, isDrained: boolean): Promise<ClusterRefusal | undefined>;
  /** Transfers the shard to the node. `by` describes who requested the transfer. */
  moveShard(shard: number, node: string, by: string): Promise<ClusterRefusal | undefined>;
}

export interface VerifyBegun {
  readonly startedMs: number;
  readonly by: Operator;
  /** True if the verification begins at the oldest entry. */
  readonly isDeep: boolean;
}

/** Result of a store verification. */
export interface VerifySummary {
  readonly entries: number;
  readonly events: number;
  readonly players: number;
  readonly snapshots: number;
  /**
   * Players whose logged balance was compared with the served balance, and players whose balance changed during the
   * comparison.
   */
  readonly compared: number;
  readonly movedOn: number;
  /** Losses that an operator has accepted, one sentence each. */
  readonly accepted: readonly string[];
  /**
   * Ledger totals of the first currencies, with sums as decimal strings. `currencies` is the number of all currencies.
   */
  readonly books: readonly {
    readonly currency: string;
    readonly players: number;
    readonly sums: Readonly<Record<'opening' | LedgerKind | 'balances' | 'difference', string>>;
  }[];
  readonly currencies: number;
  /** Number of errors found; `findings` contains the first ones of each type. */
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

/** Verifies the whole store; only one verification runs at a time. */
export interface VerifyService {
  /**
   * Undefined if no verification is running. `done` of `total` log entries have been verified; both are 0 until the
   * total is known.
   */
  readonly running: (VerifyBegun & { readonly done: number; readonly total: number }) | undefined;
  readonly last: VerifyEnded | undefined;
  /** Begins a verification. Returns false if one is already running. */
  begin(by: Operator, isDeep: boolean): boolean;
}

export type OperatorRole = 'monitor' | 'read' | 'operate';

/**
 * An operator identified by a token. The role `monitor` allows reading only the routes that show no player and no
 * balance, `read` allows reading everything, and `operate` allows changes as well.
 */
export interface OperatorToken {
  readonly name: string;
  readonly role: OperatorRole;
  readonly token: string;
}

/** Interfaces for external monitoring. */
export interface Observability {
  /** Prometheus text format, with its content type. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  /** OpenAPI document of both listeners. The caller passes the paths and schemas of this listener. */
  readonly openapi: (paths: object, schemas: object) => object;
}

/** The live data for the console. */
export interface OverviewSource {
  /** Called when the first viewer arrives. The first `take` covers the time since this call. */
  begin(): void;
  /** The current state, and activity since the previous call. */
  take(): Overview;
  lastHour(): readonly Moment[];
}

/** A snapshot in the store; see src/tools/snapshots/snapshot-overview.ts. */
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
  /** The name of the node; null if it has no cluster. */
  readonly node: string | null;
  readonly settings: readonly {
    readonly setting: string;
    /** JSON value; null if unset. Secrets are redacted. */
    readonly value: unknown;
    /** Source: `default`, an environment variable or a file. */
    readonly from: string;
    readonly meaning: string;
  }[];
}

/** A certificate and key, both in PEM format. */
export interface Certificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface AdminSettings {
  readonly host: string;
  /** The port to listen on; 0 selects a free port. */
  readonly port: number;
  /** Tokens of the operators. If there are none, every program on this machine may operate. */
  readonly tokens: readonly OperatorToken[];
  /** The certificate for TLS; undefined for plain HTTP. */
  readonly tls: Certificate | undefined;
  /** The ID of the store behind all answers, so that tools can compare stores. */
  readonly storeId: string;
  /** IDs of the stores that this store was restored from. */
  readonly restoredFrom: readonly string[];
  readonly scales: ScaleTable;
  readonly amountLimits: AmountLimits;
  readonly handMaxima: HandMaxima;
  readonly importLinesMax: number;
  /** How long an idle connection stays open after an answer. */
  readonly idleMs: number;
}

/** Reasons for refusing a request before it is read. */
export type TokenRefusal =
  | 'no token'
  | 'wrong token'
  | 'too many wrong tokens'
  | 'the role monitor'
  | 'the role read'
  | 'not sent by this machine itself'
  | 'no session'
  | 'not sent by the console';

/** Observes the operator API. */
export interface AdminObserver {
  /** `route` as in the OpenAPI document, for example `GET /v1/players/{username}`; `other` for an unknown route. */
  answered(route: string, status: number | 'aborted'): void;
  refused(reason: TokenRefusal): void;
  /** Called when an operation was refused because it would have exceeded this limit on manual money movements. */
  limited(limit: HandLimit): void;
}

export interface AdminDeps {
  readonly settings: AdminSettings;
  readonly service: OperatorService;
  readonly searcher: StoreSearcher;
  readonly feeds: FeedService;
  /** The cluster; undefined if this node has none. */
  readonly cluster: ClusterService | undefined;
  readonly observability: Observability;
  readonly overview: OverviewSource;
  readonly verifier: VerifyService;
  readonly settingsInForce: () => SettingsInForce;
  /** Snapshots in the store. Rejects during a store outage. */
  readonly keptSnapshots: () => Promise<readonly KeptSnapshot[]>;
  readonly observer: AdminObserver;
  readonly signedOut: SignedOutSessions;
  readonly counts: ConnectionCounts;
  readonly clock: Clock;
  readonly log: Logger;
}
