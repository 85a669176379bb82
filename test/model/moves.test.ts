import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import type { MoveResult, ShardStatus } from '../../src/threads/shards.js';
import type { Answer } from '../../src/wallet/decision.js';
import { commands } from '../support/domain.js';
import { type FaultMode, MemoryWal } from '../support/memory-wal.js';
import { TestHost, turns } from '../support/test-host.js';

/*
 * Random histories of one shard that moves between nodes, by takeover and by transfer with lost, late or duplicated
 * messages. The store is sometimes unreachable, loses answers, or loses its newest entries, and nodes die. In every
 * history, each acknowledged command is in the log exactly once, and commands answered "surely not done" are not in the
 * log. The balance equals the total of the log.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 300);
const SEED = process.env.MODEL_SEED;
const NODES = 3;
const BALANCE = 1_000_000;

type Step =
  | { readonly type: 'bet'; readonly node: number; readonly id: number }
  | { readonly type: 'follow' | 'take' | 'confirm' | 'die'; readonly node: number }
  /** The outcomes of two messages: `take` on its way to the other node, and `own` on its way back. */
  | {
      readonly type: 'hand-over';
      readonly from: number;
      readonly to: number;
      readonly take: 'in-time' | 'late' | 'lost' | 'twice';
      readonly own: 'in-time' | 'lost' | 'twice';
    }
  | { readonly type: 'weather'; readonly faultMode: FaultMode; readonly turns: number }
  | { readonly type: 'lose-tail'; readonly entries: number };

const node = fc.nat(NODES - 1);
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant('bet' as const), node, id: fc.nat(30) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom('follow' as const, 'take' as const, 'confirm' as const), node }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('die' as const), node }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('hand-over' as const),
      from: node,
      to: node,
      take: fc.constantFrom('in-time' as const, 'in-time' as const, 'late' as const, 'lost' as const, 'twice' as const),
      own: fc.constantFrom('in-time' as const, 'in-time' as const, 'lost' as const, 'twice' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('weather' as const),
      faultMode: fc.constantFrom<FaultMode>('not-written', 'answer-lost'),
      turns: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('lose-tail' as const), entries: fc.integer({ min: 1, max: 4 }) }),
  },
);

/** Nodes with a shared store, and the answers that they have acknowledged. */
class World {
  readonly wal = new MemoryWal('11111111-2222-3333-4444-555555555555', 1);
  private readonly nodes: TestHost[] = [];
  /** First answers by id. */
  readonly reported = new Map<string, { readonly before: number; readonly after: number }>();
  /** Ids of commands of which the outcome of an attempt is unknown. */
  readonly doubtful = new Set<string>();
  readonly asked = new Set<string>();
  /** Result of the newest takeover that was refused. */
  private refusal: MoveResult | undefined = undefined;
  private newestAcknowledged: Head | undefined = undefined;
  private readonly open = new Set<Promise<unknown>>();

  async begin(): Promise<void> {
    for (let i = 0; i < NODES; i++) this.nodes.push(await this.newNode());
    await this.take(0);
    await (this.nodes[0] as TestHost).fund('ann', BALANCE);
    this.noteAcknowledged(0);
  }

  private async newNode(): Promise<TestHost> {
    const host = new TestHost({ isShared: true, wal: this.wal });
    await host.host.start([]);
    return host;
  }

  private at(node: number): TestHost {
    return this.nodes[node] as TestHost;
  }

  private noteAcknowledged(node: number): void {
    const head = this.at(node).host.status()[0]?.head;
    const newest = this.newestAcknowledged;
    if (head !== undefined && (newest === undefined || head.lsn.sequence > newest.lsn.sequence))
      this.newestAcknowledged = head;
  }

  /** Lets `run` continue in the background, concurrently with the next steps. */
  private beside(run: Promise<unknown>): void {
    this.open.add(run);
    void run.finally(() => this.open.delete(run));
  }

  private bet(node: number, id: string): void {
    const host = this.at(node);
    this.asked.add(id);
    const answered = host.execute(commands.place([{ id, betAmount: 1 }])).then((answer) => {
      if (this.nodes[node] !== host) this.doubtful.add(id);
      else this.answered(node, id, answer);
    });
    this.beside(answered);
  }

  private answered(node: number, id: string, answer: Answer): void {
    if (answer.type === 'failed') {
      if (answer.failure !== 'moved') this.doubtful.add(id);
      return;
    }
    this.noteAcknowledged(node);
    const { before, after, isRepeat } = answer;
    const first = this.reported.get(id);
    if (first === undefined) {
      assert.ok(!isRepeat || this.doubtful.has(id) || this.asked.has(id), 'a repeat is of something that was asked');
      this.reported.set(id, { before, after });
    } else {
      assert.ok(isRepeat, `${id} was carried out twice`);
    }
  }

  private async take(node: number, over?: Head): Promise<boolean> {
    const taken = await this.at(node).take({ over, acknowledged: this.newestAcknowledged });
    if (taken.type === 'taken') this.noteAcknowledged(node);
    else this.refusal = taken;
    return taken.type === 'taken';
  }

  private async handOver({ from, to, take, own }: Extract<Step, { type: 'hand-over' }>): Promise<void> {
    const giver = this.at(from);
    if (from === to || giver.host.status()[0]?.state !== 'serving') return;
    const still = await giver.host.move({ type: 'pause', shard: 0 });
    if (still.type !== 'still' || take === 'lost') return;
    const resume = () => giver.host.move({ type: 'resume', shard: 0 });
    if (take === 'late') await resume();
    const taken = await this.take(to, still.head);
    if (take === 'twice') await this.take(to, still.head);
    if (!taken || own === 'lost') {
      await resume();
      return;
    }
    await giver.host.move({ type: 'release', shard: 0 });
    if (own === 'twice') await giver.host.move({ type: 'release', shard: 0 });
  }

  run(step: Step): void {
    switch (step.type) {
      case 'bet':
        this.bet(step.node, `t${step.id}`);
        return;
      case 'take':
        this.beside(this.take(step.node));
        return;
      case 'follow':
      case 'confirm':
        this.beside(this.at(step.node).host.move({ type: step.type, shard: 0 }));
        return;
      case 'hand-over':
        this.beside(this.handOver(step));
        return;
      case 'weather':
        this.wal.faultMode = step.faultMode;
        this.beside(turns(step.turns).then(() => this.clear()));
        return;
      case 'lose-tail':
        this.loseTail(step.entries);
        return;
      case 'die':
        this.beside(this.die(step.node));
        return;
    }
  }

  clear(): void {
    this.wal.faultMode = 'fine';
  }

  /**
   * Removes the store's newest entries. Requires that exactly one node considers itself the owner and that it has all
   * acknowledged entries. If a store loses a fence unnoticed by the former owner, two nodes may have acknowledged
   * different entries as owners. A store that waits for its replicas before it answers does not lose a fence.
   */
  private loseTail(entries: number): void {
    const owners = this.nodes
      .map(({ host }) => host.status()[0])
      .filter((one) => one !== undefined && !isElsewhere(one));
    if (owners.length !== 1 || owners[0]?.state !== 'serving') return;
    if (owners[0].head?.lsn.sequence === this.newestAcknowledged?.lsn.sequence) this.wal.loseTail(0, entries);
  }

  /**
   * Kills a node. Its memory is lost, but messages that it has sent may still arrive. Never kills the last node that
   * has the acknowledged entries.
   */
  private async die(node: number): Promise<void> {
    const others = this.nodes.filter((_, i) => i !== node);
    const newest = await this.wal.head(0);
    const isKept = newest.lsn.sequence >= (this.newestAcknowledged?.lsn.sequence ?? 0);
    if (!isKept || others.length === 0) return;
    this.nodes[node] = await this.newNode();
  }

  /** Ends all faults and waits until one node serves the shard. */
  async settle(): Promise<TestHost> {
    this.clear();
    for (let attempt = 0; attempt < 200; attempt++) {
      await turns(3);
      for (let node = 0; node < NODES; node++) {
        if (await this.take(node)) {
          const host = this.at(node);
          const balance = await host.balance('ann');
          if (balance !== undefined) return host;
        }
      }
      for (const { host } of this.nodes) await host.move({ type: 'confirm', shard: 0 });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`nobody can serve: ${JSON.stringify(this.refusal)}`);
  }

  private async quiet(): Promise<void> {
    const endMs = performance.now() + 10_000;
    while (this.open.size > 0) {
      assert.ok(performance.now() < endMs, 'everything ends');
      await Promise.race([Promise.all(this.open), new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }

  async check(): Promise<void> {
    const host = await this.settle();
    await this.quiet();
    const last = await this.settle();
    const codec = new EntryCodec(this.wal.storeId);
    const ids: string[] = [];
    for (const bytes of await this.wal.read(0, LSN_ZERO, 1_000_000)) {
      for (const event of codec.decode(bytes).events) {
        if (event.type === 'callback-applied')
          for (const { id } of event.changes as readonly { id: string }[]) ids.push(id);
      }
    }
    const inLog = new Set(ids);
    assert.equal(inLog.size, ids.length, 'each id is in the log once');
    for (const id of this.reported.keys()) assert.ok(inLog.has(id), `${id} was told, and is not in the log`);
    for (const id of inLog) {
      assert.ok(
        this.reported.has(id) || this.doubtful.has(id),
        `${id} is in the log, and every attempt was surely not done`,
      );
    }
    assert.equal(await last.balance('ann'), BALANCE - ids.length);
    assert.ok(host !== undefined);
  }

  async end(): Promise<void> {
    for (const { host } of this.nodes) await host.close();
  }
}

function isElsewhere({ state }: ShardStatus): boolean {
  return state === 'away' || state === 'following';
}

test('a shard that moves between nodes loses no answer and repeats no effect', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(arbitraryStep, fc.integer({ min: 0, max: 12 })), { minLength: 1, maxLength: 50 }),
      async (steps) => {
        const world = new World();
        await world.begin();
        for (const [step, pause] of steps) {
          world.run(step);
          await turns(pause);
        }
        await world.check();
        await world.end();
      },
    ),
    SEED === undefined ? { numRuns: RUNS } : { numRuns: RUNS, seed: Number(SEED) },
  );
});
