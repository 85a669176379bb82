import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Packr } from 'msgpackr';
import { WebSocket, WebSocketServer } from 'ws';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { newHandshake } from '../../src/peer/encrypted-handshake.js';
import { until } from '../support/until.js';
import { A, B, End, SECRET, STORE_ID } from './link-end.js';

type Frame = Buffer | string;
/** Returns the frames that replace the nth frame of a connection. `before` contains the frames sent earlier. */
type Change = (frame: Buffer, n: number, before: readonly Buffer[]) => readonly Frame[];

/** A process between two members that forwards frames, and changes some of the dialling end's frames. */
class Relay {
  /** Changes a frame. Frame 0 is the proof. */
  change: Change = (frame) => [frame];
  private readonly server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  private readonly sockets: WebSocket[] = [];
  toListener: WebSocket | undefined;
  toDialler: WebSocket | undefined;

  constructor(private readonly to: number) {
    this.server.on('connection', (near, request) => this.carry(near, request.url ?? '/'));
  }

  async listen(): Promise<number> {
    if (this.server.address() === null) await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate();
    this.server.close();
  }

  private carry(near: WebSocket, path: string): void {
    const far = new WebSocket(`ws://127.0.0.1:${this.to}${path}`);
    this.sockets.push(near, far);
    this.toDialler = near;
    this.toListener = far;
    const before: Buffer[] = [];
    const opened = once(far, 'open');
    near.on('message', async (data: Buffer, isBytes) => {
      await opened;
      const frames = isBytes ? this.change(data, before.length, before) : [data.toString()];
      before.push(data);
      for (const frame of frames) far.send(frame);
    });
    far.on('message', (data: Buffer, isBytes) => near.send(isBytes ? data : data.toString()));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('close', () => other.terminate());
      one.on('error', () => {});
    }
  }
}

async function throughRelay(run: (a: End, b: End, relay: Relay) => Promise<void>): Promise<void> {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  await Promise.all([a.listen(), b.listen()]);
  const relay = new Relay(a.port);
  try {
    a.keep([B, b.port]);
    b.keep([A, await relay.listen()]);
    await until('the link is up', () => a.links.isUp(B) && b.links.isUp(A));
    await run(a, b, relay);
  } finally {
    await Promise.all([a.links.close(), b.links.close()]);
    relay.close();
  }
}

const wanted = (shard: number): PeerMessage => ({ type: 'want', shard, sequence: 1 });
const shardsOf = ({ messages }: End) => messages.map((message) => (message as { shard: number }).shard);

const DEPOSIT = {
  type: 'asks',
  requests: [
    {
      id: 1,
      shard: 0,
      deadlineMs: 1e12,
      command: { type: 'deposit', id: 'gift', username: 'ann', amount: 9_999_999, operator: 'anna' },
    },
  ],
};

test('a relay between members cannot inject a command at either end', async () => {
  const forged = new Packr({ useRecords: false, moreTypes: true }).pack(DEPOSIT);
  for (const end of ['listener', 'dialler'] as const) {
    await throughRelay(async (a, b, relay) => {
      const [victim, peer] = end === 'listener' ? [a, B] : [b, A];
      const socket = end === 'listener' ? relay.toListener : relay.toDialler;
      socket?.send(forged);
      await until('the link ends', () => victim.heard.includes(`down ${peer}`));
      assert.deepEqual(victim.messages, []);
      assert.deepEqual([victim.counts.forgedFrames, victim.warned], [1, ['link-forged']]);
    });
  }
});

/** Changes the second of three messages. */
const withSecond = (change: (frame: Buffer) => readonly Frame[]): Change => {
  return (frame, n) => (n === 2 ? change(frame) : [frame]);
};

/** Each change, and which of the three messages (by number) the receiver still reads. */
const CHANGES: readonly (readonly [title: string, change: Change, heard: readonly number[]])[] = [
  ['a repeated frame ends the link and is not read', withSecond((frame) => [frame, frame]), [1, 2]],
  [
    'a frame resent later ends the link and is not read',
    (frame, n, before) => (n === 3 ? [before[1] as Buffer] : [frame]),
    [1, 2],
  ],
  ['a frame after a missing one ends the link and is not read', withSecond(() => []), [1]],
  [
    'an early frame ends the link and is not read',
    (frame, n, before) => (n === 2 ? [] : n === 3 ? [frame, before[2] as Buffer] : [frame]),
    [1],
  ],
  ['a frame without its last byte ends the link and is not read', withSecond((frame) => [frame.subarray(0, -1)]), [1]],
  ['an empty frame ends the link and is not read', withSecond(() => [Buffer.alloc(0)]), [1]],
  ['a frame with a flipped bit ends the link and is not read', withSecond((frame) => [flipped(frame, 0)]), [1]],
  [
    'a tag with a flipped bit ends the link and is not read',
    withSecond((frame) => [flipped(frame, frame.length - 1)]),
    [1],
  ],
  ['a frame of text ends the link and is not read', withSecond(() => ['{"type":"look"}']), [1]],
];

for (const [title, change, heard] of CHANGES) {
  test(title, () =>
    throughRelay(async (a, b, relay) => {
      relay.change = change;
      for (const shard of [1, 2, 3]) b.links.send(A, wanted(shard));
      await until('the link ends', () => a.heard.includes(`down ${B}`));
      relay.change = (frame) => [frame];
      await until('there is another link', () => a.links.isUp(B) && b.links.isUp(A));
      assert.deepEqual([shardsOf(a), a.counts.forgedFrames, a.warned], [heard, 1, ['link-forged']]);
      assert.ok(b.links.send(A, wanted(4)));
      await until('the new link is heard', () => shardsOf(a).includes(4));
    }),
  );
}

function flipped(frame: Buffer, at: number): Buffer {
  const other = Buffer.from(frame);
  other[at] = (other[at] ?? 0) ^ 1;
  return other;
}

test('changing any byte of the handshake leaves both ends without a link', () => {
  const deps = (tag: string) => ({ storeId: STORE_ID, secret: SECRET, tag, isMember: () => true });
  const shake = (changed: number, at: number): readonly number[] => {
    const [listener, dialler] = [newHandshake(deps(A), undefined), newHandshake(deps(B), A)];
    const lengths: number[] = [];
    const pass = (frame: Frame | undefined) => {
      assert.ok(frame instanceof Buffer);
      lengths.push(frame.length);
      return lengths.length === changed ? flipped(frame, at) : frame;
    };
    const proof = dialler.hear(pass(listener.opening[0]), true).send[0];
    const heard = listener.hear(pass(proof), true);
    assert.equal(heard.proven?.tag, B);
    assert.equal(dialler.hear(pass(heard.send[0]), true).proven?.tag, A);
    return lengths;
  };
  const lengths = shake(0, 0);
  assert.equal(lengths.length, 3);
  for (const [n, length] of lengths.entries()) {
    for (let at = 0; at < length; at++) assert.throws(() => shake(n + 1, at), /secret|version/);
  }
});

test('frames hide their contents', () =>
  throughRelay(async (a, b, relay) => {
    const seen: Buffer[] = [];
    relay.change = (frame) => {
      seen.push(frame);
      return [frame];
    };
    assert.ok(b.links.send(A, DEPOSIT as never));
    await until('it is heard', () => a.messages.length === 1);
    assert.deepEqual(a.messages, [DEPOSIT]);
    assert.ok(seen.every((frame) => !frame.includes('ann') && !frame.includes('deposit')));
  }));
