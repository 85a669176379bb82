import { setTimeout as delay } from 'node:timers/promises';
import { shardOf } from '../../src/threads/placement.js';
import { bet, PlatformClient } from '../../test/support/client.js';
import { importPlayers } from '../support/servers.js';
import { SHARDS } from './stage.js';

const BALANCE = 1_000_000;
const AGAIN_MS = 10;
const PROBE_TIMEOUT_MS = 60_000;

/** One player per shard, for measuring how long it takes until each shard answers. */
export class Probe {
  private readonly usernames = Array.from({ length: SHARDS }, (_, shard) => nameIn(shard));
  private bets = 0;

  async open(adminUrl: string): Promise<void> {
    await importPlayers(adminUrl, this.usernames, BALANCE);
  }

  /**
   * Sends a bet to every shard at the same time and retries each until it succeeds. Resolves to the milliseconds until
   * the last success.
   */
  async lastAnswerMs(url: string): Promise<number> {
    const client = new PlatformClient(url);
    const startedMs = performance.now();
    const id = ++this.bets;
    try {
      await Promise.all(this.usernames.map((username) => answered(client, username, `probe-${id}-${username}`)));
      return performance.now() - startedMs;
    } finally {
      client.close();
    }
  }
}

async function answered(client: PlatformClient, username: string, id: string): Promise<void> {
  for (const endMs = Date.now() + PROBE_TIMEOUT_MS; ; await delay(AGAIN_MS)) {
    const answer = await client.post('placeBets', bet(username, id)).catch(() => undefined);
    if (answer?.statusCode === 0) return;
    if (Date.now() > endMs) throw new Error(`${id} has no answer: ${JSON.stringify(answer)}`);
  }
}

function nameIn(shard: number): string {
  for (let n = 0; ; n++) {
    const username = `probe-${n}`;
    if (shardOf(username, SHARDS) === shard) return username;
  }
}
