import type {
  Claim,
  HeartbeatAnswer,
  HeartbeatCounters,
  MemberRecord,
  MembershipRegistry,
  Plan,
  RegistryView,
} from '../../src/ports/table.js';
import type { Random } from './random.js';

/** The membership registry with the behavior of the Redis function in src/store/redis/cluster-function.ts. */
export class SimulatedTable {
  private version = 'none';
  private members = new Map<string, MemberRecord>();
  private drained = new Set<string>();
  private plan: Plan | undefined = undefined;
  private claims = new Map<number, Claim>();
  private heartbeats = new Map<string, string>();

  constructor(private readonly random: Random) {}

  /** Loses all contents, as after a flush. */
  lose(): void {
    this.members = new Map();
    this.drained = new Set();
    this.plan = undefined;
    this.claims = new Map();
    this.heartbeats = new Map();
    this.version = 'none';
  }

  /** Registry access for one process. `call` delivers each call to the registry and returns its answer, or loses it. */
  for(call: <T>(run: () => T) => Promise<T>): MembershipRegistry {
    return {
      join: (tag, record) => call(() => this.join(tag, record)),
      heartbeat: (tag, counter, known) => call(() => this.counter(tag, counter, known)),
      putPlan: (version, plan, gone) => call(() => this.putPlan(version, plan, gone)),
      claim: (shard, claim) => call(() => this.claim(shard, claim)),
      release: (shard, claim) => call(() => this.release(shard, claim)),
      drain: (tag, isDrained) => call(() => this.drain(tag, isDrained)),
      leave: (tag) => call(() => this.leave(tag)),
      read: () => call(() => ({ heartbeats: this.allHeartbeats(), view: this.view() })),
    };
  }

  private changed(): void {
    this.version = this.random.hex(16);
  }

  private join(tag: string, record: MemberRecord): void {
    this.members.set(tag, record);
    this.changed();
    if (!this.heartbeats.has(tag)) this.heartbeats.set(tag, this.version);
  }

  private counter(tag: string, counter: string, known: string): HeartbeatAnswer {
    if (!this.members.has(tag)) return { type: 'gone' };
    this.heartbeats.set(tag, counter);
    return { type: 'member', heartbeats: this.allHeartbeats(), view: this.version === known ? undefined : this.view() };
  }

  private putPlan(version: string, plan: Plan, gone: readonly string[]): boolean {
    if (version !== this.version) return false;
    for (const tag of gone) this.remove(tag);
    this.plan = structuredClone(plan);
    this.changed();
    return true;
  }

  private claim(shard: number, claim: Claim): void {
    const found = this.claims.get(shard);
    if (found !== undefined && found.epoch >= claim.epoch) return;
    this.claims.set(shard, claim);
    this.changed();
  }

  private release(shard: number, { epoch, tag }: Claim): void {
    const found = this.claims.get(shard);
    if (found?.epoch !== epoch || found.tag !== tag) return;
    this.claims.set(shard, { epoch, tag: '' });
    this.changed();
  }

  private drain(tag: string, isDrained: boolean): boolean {
    if (!this.members.has(tag)) return false;
    if (isDrained) this.drained.add(tag);
    else this.drained.delete(tag);
    this.changed();
    return true;
  }

  private leave(tag: string): void {
    this.remove(tag);
    this.changed();
  }

  private remove(tag: string): void {
    this.members.delete(tag);
    this.drained.delete(tag);
    this.heartbeats.delete(tag);
  }

  private allHeartbeats(): HeartbeatCounters {
    return new Map(this.heartbeats);
  }

  private view(): RegistryView {
    const { version, plan } = this;
    return {
      version,
      members: new Map(this.members),
      drained: new Set(this.drained),
      plan,
      claims: new Map(this.claims),
    };
  }
}
