import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Master } from './master.js';
import type { Masters } from './masters.js';
import { parseRedirect } from './redirect.js';
import { explain } from './server-error.js';

const REDIRECTS_MAX = 10;
const AGAIN_MS = 50;

/** Sends commands about a shard or the store to the right master, and follows redirects. */
export class MasterRouter {
  constructor(readonly masters: Masters) {}

  /** `run` must first send one command with keys, because only such a command can be redirected. */
  async onShard<T>(shard: number, use: 'appends' | 'reads', run: (client: Redis) => Promise<T>): Promise<T> {
    return await this.on(() => this.masters.of(shard), use, run);
  }

  async onHome<T>(run: (client: Redis) => Promise<T>): Promise<T> {
    return await this.on(() => this.masters.home(), 'appends', run);
  }

  private async on<T>(
    find: () => Promise<Master>,
    use: 'appends' | 'reads',
    run: (client: Redis) => Promise<T>,
  ): Promise<T> {
    let asked: Master | undefined;
    for (let attempt = 1; ; attempt++) {
      const isAsked = asked !== undefined;
      const master = asked ?? (await find());
      asked = undefined;
      try {
        return await master[use].use((client) => (isAsked ? asking(client, run) : run(client)));
      } catch (error) {
        const redirect = this.masters.isOne ? undefined : parseRedirect(error);
        if (redirect === undefined) this.masters.doubt();
        if (redirect === undefined || attempt === REDIRECTS_MAX) throw explain(error as Error);
        const other = this.masters.redirectTarget(redirect, master);
        if (redirect.type === 'ask') asked = other;
        else if (redirect.type === 'again') await delay(AGAIN_MS);
      }
    }
  }
}

/** Makes this connection's next command valid for a slot that is moving to this server. */
export function asking<T>(client: Redis, run: (client: Redis) => Promise<T>): Promise<T> {
  client.call('ASKING').catch(() => {});
  return run(client);
}
