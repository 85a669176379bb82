import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { DamagedRecordError } from '../ports/damaged-record-error.js';

/** Logs unusable archive records, so that an operator can repair them. `player` is the hash of a username. */
export function logUnusable(log: Logger, shard: number, player: number, error: unknown): void {
  const { day, round } = error instanceof DamagedRecordError ? error.place : {};
  log.error(
    { code: 'archive-record-unusable', shard, day, player, round, error: messageOf(error) },
    'archived record is unusable, refusing requests that need it',
  );
}
