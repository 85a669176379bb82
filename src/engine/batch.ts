import type { BatchWriter } from '../ports/wal.js';
import type { Answer } from '../wallet/decision.js';
import type { Event } from '../wallet/event.js';
import type { QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { ReplyBarrier } from './reply-barrier.js';

/** Decisions that share one log entry, with their events. The replies are held back until the entry is durable. */
export interface Batch {
  /** The entry being written. Undefined while no decision in this batch has changed a wallet. */
  writer: BatchWriter | undefined;
  readonly commands: ReplyBarrier<Answer>;
  /** The time at which each command was decided. */
  readonly decidedMs: number[];
  readonly queries: ReplyBarrier<QueryResult | BusyAnswer>;
  /** The events in `writer`, each with the currency of its wallet. */
  readonly events: CountedEvent[];
}

export interface CountedEvent {
  readonly currency: string;
  readonly event: Event;
}

export function newBatch(): Batch {
  return { writer: undefined, commands: new ReplyBarrier(), decidedMs: [], queries: new ReplyBarrier(), events: [] };
}

export function hasReplies({ commands, queries }: Batch): boolean {
  return commands.length > 0 || queries.length > 0;
}

/** Discards the decided answers and passes this answer to every replier instead. */
export function answerAll({ commands, queries }: Pick<Batch, 'commands' | 'queries'>, answer: BusyAnswer): void {
  commands.replaceBy(answer);
  queries.replaceBy(answer);
}
