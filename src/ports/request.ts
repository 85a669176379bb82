import { AnswerOnce } from '../base/answer-once.js';
import type { Logger } from '../base/logger.js';
import type { Replier } from '../base/replier.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { Busy, BusyAnswer } from '../wallet/rejection.js';

/** A command or a query, with the replier that waits for the answer. */
export type Request =
  | {
      readonly type: 'command';
      readonly command: Command;
      readonly replier: Replier<Answer>;
      readonly deadlineMs: number;
    }
  | {
      readonly type: 'query';
      readonly query: Query;
      readonly replier: Replier<QueryResult | BusyAnswer>;
      readonly deadlineMs: number;
    };

/** The same request with a replier that passes on only the first answer and never throws. */
export function answeredOnce(request: Request, log: Logger): Request {
  const { deadlineMs } = request;
  return request.type === 'command'
    ? { type: 'command', command: request.command, replier: new AnswerOnce(request.replier, log), deadlineMs }
    : { type: 'query', query: request.query, replier: new AnswerOnce(request.replier, log), deadlineMs };
}

const failed = (failure: Busy): BusyAnswer => ({ type: 'failed', failure });
export const STARTING = failed('starting');
export const STOPPED = failed('stopped');
export const OVERLOADED = failed('overloaded');
export const UPGRADING = failed('upgrading');
export const MEMORY_FULL = failed('memory-full');
/** The command was definitely not executed: no append contained it. */
export const MOVED = failed('moved');
/** The outcome is unknown: an append with the command may have succeeded before the new owner fenced the log. */
export const UNSURE = failed('unsure');
export const TOO_LATE = failed('not-durable-in-time');
export const ARCHIVE_DAMAGED = failed('archive-damaged');
