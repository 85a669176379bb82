import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type {
  Claim,
  HeartbeatAnswer,
  HeartbeatCounters,
  MemberRecord,
  MembershipRegistry,
  Plan,
  RegistryView,
} from '../../ports/table.js';
import { memberOf, planOf } from '../../ports/table-records.js';
import { CLUSTER, withFunction } from './functions.js';
import type { Keys } from './keys.js';
import type { MasterRouter } from './master-router.js';

type Flat = readonly string[];

const VERSION_BYTES = 8;

/** A cluster's membership registry, in the store's Redis next to the meta record. */
export class RedisRegistry implements MembershipRegistry {
  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
  ) {}

  async join(tag: string, record: MemberRecord): Promise<void> {
    await this.call('join', tag, JSON.stringify(record), newVersion());
  }

  async heartbeat(tag: string, counter: string, known: string): Promise<HeartbeatAnswer> {
    const [word, heartbeats = [], table] = (await this.call('beat', tag, counter, known)) as [string, Flat?, Flat?];
    if (word === 'gone') return { type: 'gone' };
    return { type: 'member', heartbeats: pairsOf(heartbeats), view: table && viewOf(table) };
  }

  async putPlan(version: string, plan: Plan, gone: readonly string[]): Promise<boolean> {
    return (await this.call('plan', version, JSON.stringify(plan), newVersion(), ...gone)) === 1;
  }

  async claim(shard: number, { epoch, tag }: Claim): Promise<void> {
    await this.call('claim', shard, epoch, tag, newVersion());
  }

  async release(shard: number, { epoch, tag }: Claim): Promise<void> {
    await this.call('release', shard, epoch, tag, newVersion());
  }

  async drain(tag: string, isDrained: boolean): Promise<boolean> {
    return (await this.call('drain', tag, isDrained ? '1' : '', newVersion())) === 1;
  }

  async leave(tag: string): Promise<void> {
    await this.call('leave', tag, newVersion());
  }

  async read(): Promise<{ readonly heartbeats: HeartbeatCounters; readonly view: RegistryView }> {
    const [, heartbeats, table] = (await this.call('read')) as [string, Flat, Flat];
    return { heartbeats: pairsOf(heartbeats), view: viewOf(table) };
  }

  private async call(...args: (string | number)[]): Promise<unknown> {
    const { table, heartbeats } = this.keys;
    const send = (client: Redis) => client.call('FCALL', CLUSTER.name, 2, table, heartbeats, ...args);
    return await this.router.onHome((client) => withFunction(client, CLUSTER, send));
  }
}

function newVersion(): string {
  return randomBytes(VERSION_BYTES).toString('hex');
}

function pairsOf(flat: Flat): Map<string, string> {
  const pairs = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) pairs.set(flat[i] as string, flat[i + 1] as string);
  return pairs;
}

function viewOf(flat: Flat): RegistryView {
  const fields = pairsOf(flat);
  const members = new Map<string, MemberRecord>();
  const drained = new Set<string>();
  const claims = new Map<number, Claim>();
  for (const [field, value] of fields) {
    if (field.startsWith('n:')) members.set(field.slice(2), memberOf(value));
    if (field.startsWith('d:')) drained.add(field.slice(2));
    if (!field.startsWith('c:')) continue;
    const [epoch, tag = ''] = value.split(' ');
    claims.set(Number(field.slice(2)), { epoch: Number(epoch), tag });
  }
  const plan = fields.get('plan');
  return {
    version: fields.get('v') ?? '',
    members,
    drained,
    plan: plan === undefined ? undefined : planOf(plan),
    claims,
  };
}
