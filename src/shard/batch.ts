import type { Answer } from '../wallet/decision.js';
import type { Event } from '../wallet/event.js';
import type { QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { BatchWriter } from './log/wal.js';
import { ReplyBarrier } from './reply-barrier.js';

/** What is decided for one entry: its events, and the answers that wait for it. */
export interface Batch {
  /** Undefined while nothing that was decided has changed a wallet. */
  writer: BatchWriter | undefined;
  readonly commands: ReplyBarrier<Answer>;
  /** When each of the commands had been decided. */
  readonly decidedMs: number[];
  readonly queries: ReplyBarrier<QueryResult | BusyAnswer>;
  /** Of `writer`, each with the currency of its wallet. */
  readonly events: Tallied[];
}

export interface Tallied {
  readonly currency: string;
  readonly event: Event;
}

export function newBatch(): Batch {
  return { writer: undefined, commands: new ReplyBarrier(), decidedMs: [], queries: new ReplyBarrier(), events: [] };
}

export function hasReplies({ commands, queries }: Batch): boolean {
  return commands.length > 0 || queries.length > 0;
}

/** What was decided will not be told: every replier gets this instead. */
export function answerAll({ commands, queries }: Pick<Batch, 'commands' | 'queries'>, answer: BusyAnswer): void {
  commands.replaceBy(answer);
  queries.replaceBy(answer);
}
