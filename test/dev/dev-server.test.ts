import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DevServer } from './dev-server.js';

/** Servers that end when the test says so. `history` has a line for each start, request to stop, and end. */
class Scene {
  readonly history: string[] = [];
  private readonly ends = new Map<number, () => void>();
  private started = 0;
  readonly server = new DevServer(() => {
    const id = ++this.started;
    this.history.push(`start ${id}`);
    const ended = new Promise<void>((resolve) => this.ends.set(id, resolve));
    return { stop: () => this.history.push(`stop ${id}`), ended };
  });

  async built(times = 1): Promise<void> {
    for (let i = 0; i < times; i++) this.server.built();
    await nextTurn();
  }

  async end(id: number): Promise<void> {
    this.history.push(`end ${id}`);
    this.ends.get(id)?.();
    await nextTurn();
  }
}

test('a build starts the next server only after the former one has ended', async () => {
  const scene = new Scene();
  await scene.built();
  await scene.built();
  assert.deepEqual(scene.history, ['start 1', 'stop 1']);
  await scene.end(1);
  assert.deepEqual(scene.history, ['start 1', 'stop 1', 'end 1', 'start 2']);
});

test('several builds while a server stops start one server', async () => {
  const scene = new Scene();
  await scene.built();
  await scene.built(3);
  await scene.end(1);
  assert.deepEqual(scene.history, ['start 1', 'stop 1', 'end 1', 'start 2']);
});

test('a build replaces a server that has ended by itself', async () => {
  const scene = new Scene();
  await scene.built();
  await scene.end(1);
  await scene.built();
  assert.deepEqual(scene.history, ['start 1', 'end 1', 'stop 1', 'start 2']);
});

test('a build after the stop starts no server', async () => {
  const scene = new Scene();
  await scene.built();
  const stopped = scene.server.stop();
  await scene.end(1);
  await stopped;
  await scene.built();
  assert.deepEqual(scene.history, ['start 1', 'stop 1', 'end 1']);
});

test('a stop during a replacement starts no other server', async () => {
  const scene = new Scene();
  await scene.built(1);
  await scene.built(1);
  const stopped = scene.server.stop();
  await scene.end(1);
  await stopped;
  assert.ok(!scene.history.includes('start 2'), scene.history.join(', '));
});
