import type { Clock, Replier } from '../base/ports.js';
import type { BusyAnswer } from '../shard/shard.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import { shardOf } from './placement.js';
import type { ShardStatus, Shards } from './shards.js';

/**
 * All wallets of this process, wherever their shards live: what the two listeners talk to. They know players; which
 * shard a player is in is known here.
 */
export class WalletService {
  private wasReady = false;

  constructor(
    private readonly shards: Shards,
    readonly shardCount: number,
    private readonly clock: Clock,
    private readonly deadlineMs: number,
  ) {}

  /** The replier is called once; also when the answer is that there is none yet. */
  execute(command: Command, replier: Replier<Answer>): void {
    this.shards.execute(
      shardOf(command.username, this.shardCount),
      command,
      this.clock.now() + this.deadlineMs,
      replier,
    );
  }

  async ask(question: Exclude<Query, { type: 'scan-transactions' }>): Promise<QueryResult | BusyAnswer> {
    return await this.askShard(shardOf(question.username, this.shardCount), question);
  }

  async askShard(shard: number, question: Query): Promise<QueryResult | BusyAnswer> {
    return await new Promise((resolve) => {
      this.shards.ask(shard, question, this.clock.now() + this.deadlineMs, { reply: resolve });
    });
  }

  /** Ready once every shard has recovered; from then on a single shard that stops does not take the node out. */
  isReady(): boolean {
    this.wasReady ||= this.status().every((shard) => shard.state === 'serving');
    return this.wasReady;
  }

  status(): readonly ShardStatus[] {
    return this.shards.status();
  }
}
