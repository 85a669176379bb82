import type { Clock, Logger } from '../base/ports.js';
import type { ScaleTable } from '../wallet/amount.js';
import type { OperatorCommand } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { PlayerQuery, Query, QueryResult } from '../wallet/query.js';
import type { Busy } from '../wallet/rejection.js';

export type Failed = { readonly type: 'failed'; readonly failure: Busy };

/** Whoever owns the wallets. */
export interface OperatorService {
  readonly shardCount: number;
  operate(command: OperatorCommand): Promise<Answer>;
  ask(question: PlayerQuery): Promise<QueryResult | Failed>;
  askShard(shard: number, question: Query): Promise<QueryResult | Failed>;
  readonly isReady: boolean;
  /** One result for each shard that serves. */
  takeSnapshots(): Promise<readonly object[]>;
  status(): readonly object[];
}

export interface AdminSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string | null;
  readonly scales: ScaleTable;
  /** Largest single amount, in whole currency. */
  readonly amountMax: number;
  readonly importLinesMax: number;
}

export interface AdminDeps {
  readonly settings: AdminSettings;
  readonly service: OperatorService;
  readonly clock: Clock;
  readonly log: Logger;
}
