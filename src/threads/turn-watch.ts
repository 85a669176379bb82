import type { TurnTimes } from '../callback/sent-callback.js';
import type { CompletedAppend, ShardObserver, Turn } from '../ports/shard-observer.js';
import type { Command } from '../wallet/command.js';

/** Records when traced commands were decided. Used only if traces are sent. */
export class TurnWatch implements ShardObserver {
  private readonly turns = new Map<Command, TurnTimes | undefined>();

  constructor(private readonly observer: ShardObserver) {}

  expect(command: Command): void {
    this.turns.set(command, undefined);
  }

  /** Removes and returns the times at which a command was decided; undefined if the command was not decided. */
  take(command: Command): TurnTimes | undefined {
    const times = this.turns.get(command);
    this.turns.delete(command);
    return times;
  }

  decided(shard: number, turn: Turn): void {
    const { command, startedMs, endedMs } = turn;
    if (this.turns.size > 0 && this.turns.has(command)) this.turns.set(command, { startedMs, endedMs });
    this.observer.decided(shard, turn);
  }

  appendCompleted(shard: number, completed: CompletedAppend): void {
    this.observer.appendCompleted(shard, completed);
  }

  appendFailed(shard: number, error: Error, nowMs: number): void {
    this.observer.appendFailed(shard, error, nowMs);
  }

  healed(shard: number, entries: number): void {
    this.observer.healed(shard, entries);
  }

  failed(shard: number): void {
    this.observer.failed(shard);
  }
}
