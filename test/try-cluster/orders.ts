import { formatTable } from '../../src/cli/print/table.js';
import { type LocalCluster, nameOf } from '../support/local-cluster.js';

export const HELP = `  kill N    kill -9 of node N: the others take its shards
  stop N    SIGTERM: node N gives its shards away first, and ends after five seconds or more
  start N   start node N again; shards come back to it when nothing has changed for ten seconds
  status    who serves what
  help      this`;

/** Commands typed at the prompt, executed one after the other. */
export class Orders {
  private readonly actions: Readonly<Record<string, (i: number) => Promise<void>>> = {
    kill: (i) => this.end(i, 'SIGKILL'),
    stop: (i) => this.end(i, 'SIGTERM'),
    start: (i) => this.start(i),
  };

  constructor(
    private readonly cluster: LocalCluster,
    private readonly say: (line: string) => void,
  ) {}

  async run(line: string): Promise<void> {
    const [action = '', number, ...others] = line.trim().split(/\s+/);
    if (action === '') return;
    const act = this.actions[action];
    const i = Number(number);
    if (action === 'status' && number === undefined) await this.status();
    else if (action === 'help' && number === undefined) this.say(HELP);
    else if (act === undefined || number === undefined || others.length > 0) this.say(`no order: ${line}\n${HELP}`);
    else if (!(i in this.cluster.nodes)) this.say(`there is no node ${number}: 0 to ${this.cluster.nodes.length - 1}`);
    else await act(i);
  }

  private async end(i: number, signal: NodeJS.Signals): Promise<void> {
    const { cluster, say } = this;
    if (cluster.nodes[i] === undefined) return say(`${nameOf(i)} does not run: start ${i}`);
    const served = (await this.served()).get(nameOf(i))?.join(' ') ?? 'none';
    const isLast = cluster.living.length === 1;
    const sinceMs = performance.now();
    const took = () => `after ${Math.round(performance.now() - sinceMs)} ms`;
    const ended = cluster.end(i, signal);
    say(`${nameOf(i)} gets ${signal}; it serves shards ${served}`);
    if (!isLast) {
      await cluster.servedWithout(i);
      say(`all shards are served again, by others, ${took()}`);
    }
    const how = await ended;
    if (signal === 'SIGTERM') say(`${nameOf(i)} has ended with ${how} ${took()}`);
    await this.status();
  }

  private async start(i: number): Promise<void> {
    const { cluster, say } = this;
    if (cluster.nodes[i] !== undefined) return say(`${nameOf(i)} runs already`);
    const sinceMs = performance.now();
    const { callbackUrl } = await cluster.startNode(i);
    say(`${nameOf(i)} is ready after ${Math.round(performance.now() - sinceMs)} ms: callbacks at ${callbackUrl}`);
    await this.status();
  }

  private async status(): Promise<void> {
    const { cluster, say } = this;
    const seen = await cluster.seen();
    if (seen === undefined) return say('no node answers');
    const served = await this.served();
    const rows = cluster.nodes.map((node, i) => {
      const name = nameOf(i);
      const followed = seen.shards.filter(({ followers }) => followers.includes(name)).map(({ shard }) => shard);
      const state = seen.nodes.find((one) => one.name === name)?.state;
      if (node === undefined) return [name, 'does not run'];
      return [name, state ?? 'unknown', served.get(name)?.join(' ') ?? '', followed.join(' ')];
    });
    const nobodys = served.get(null);
    say(formatTable(['node', 'state', 'serves shards', 'follows shards'], rows));
    if (nobodys !== undefined) say(`nobody serves ${nobodys.join(' ')}`);
  }

  /** Shards by owner; the key null stands for shards without an owner. */
  private async served(): Promise<Map<string | null, number[]>> {
    const served = new Map<string | null, number[]>();
    for (const { shard, owner } of (await this.cluster.seen())?.shards ?? []) {
      served.set(owner, [...(served.get(owner) ?? []), shard]);
    }
    return served;
  }
}
