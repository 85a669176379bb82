import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle } = commands;
const DAY_MS = 86_400_000;
const MEMORY_MS = 1000;
const RETENTION_MS = 10 * DAY_MS;
const SWEEP_MS = 60_000;

/** An archive whose puts wait until the test releases them. */
class SlowArchive extends MemoryArchive {
  private on = () => {};
  private readonly isOn = new Promise<void>((resolve) => {
    this.on = resolve;
  });
  /** Records of all requested puts. */
  readonly asked: ArchiveRecord[] = [];

  override async put(records: readonly ArchiveRecord[]): Promise<void> {
    this.asked.push(...records);
    await this.isOn;
    await super.put(records);
  }

  letOn(): void {
    this.on();
  }
}

/** Timers that the test fires. */
class HandTimers {
  readonly defer = setImmediate;
  private readonly regular: { readonly ms: number; readonly run: () => void }[] = [];

  every(ms: number, run: () => void) {
    this.regular.push({ ms, run });
    return () => {};
  }

  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }

  fire(mostMs: number): void {
    for (const { ms, run } of this.regular) if (ms <= mostMs) run();
  }
}

test('a round that is forgotten during its put never returns with a new bet', async () => {
  const archive = new SlowArchive();
  const timers = new HandTimers();
  const rules = { retentionMs: RETENTION_MS };
  const host = await TestHost.started({ shards: 1, archive, memoryMs: MEMORY_MS, rules, timers });
  const pass = async (ms: number, fired: number) => {
    host.clock.nowMs += ms;
    timers.fire(fired);
    await turns(20);
  };
  await host.fund('ann', 100_000);
  await host.execute(place([{ id: 'a', roundId: 'old round' }]));
  await host.execute(settle([{ id: 'a', roundId: 'old round' }]));
  await until('its put is on its way', async () => {
    await pass(MEMORY_MS, SWEEP_MS - 1);
    return archive.asked.length > 0;
  });
  const placeAgain = place([{ id: 'a', roundId: 'new round' }]);
  const isForgotten = async () => {
    await pass(DAY_MS, SWEEP_MS);
    const answer = await host.execute(placeAgain);
    return answer.type === 'accepted' && !answer.isRepeat;
  };
  await until('the old round is forgotten', isForgotten);
  archive.letOn();
  await turns(50);
  const another = await host.execute(place([{ id: 'b', roundId: 'old round' }]));
  assert.equal(another.type, 'accepted', JSON.stringify(another));
  const list = await host.ask({ type: 'list-transactions', username: 'ann', limit: 100, after: undefined });
  assert.ok(list.type === 'transactions');
  assert.deepEqual(
    list.page?.items.map(({ id, roundId }) => `${roundId} ${id}`),
    ['old round b', 'new round a'],
  );
  assert.deepEqual(archive.records, []);
  await host.host.close();
});
