import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import calculateSlot from 'cluster-key-slot';
import type { Redis } from 'ioredis';
import { Packr } from 'msgpackr';
import { WebSocket, WebSocketServer } from 'ws';
import { systemTimers } from '../../src/base/timers.js';
import { guessUsername } from '../../src/callback/guess-username.js';
import { shardOf } from '../../src/threads/placement.js';
import { echoOf, serveEcho } from '../peers/echo-server.js';
import { connectTo } from '../support/redis-client.js';

/*
 * Baseline for a cluster node: an echo server without a wallet. It forwards calls that hash to another node, and
 * answers its own calls once they are in their shard's log. It also follows logs, and sends heartbeats to its peers and
 * to a table. Unlike walletd's nodes, it executes no commands, compares no heads and takes over no shards.
 */

/** Settings, read from the environment variable BARE_NODE. */
export interface BareNode {
  readonly at: number;
  /** Peer ports of all nodes, by node index. */
  readonly ports: readonly number[];
  readonly shards: number;
  /** A node that owns every shard. If undefined, shards are assigned round-robin. */
  readonly ownerOfAll?: number | undefined;
  readonly masters: readonly string[];
  /** True if appends wait for the master's replica. */
  readonly waits: boolean;
}

type Wire =
  | { readonly type: 'calls'; readonly calls: readonly (readonly [id: number, text: string])[] }
  | { readonly type: 'answers'; readonly answers: readonly (readonly [id: number, body: string])[] }
  | { readonly type: 'pulse'; readonly serving: readonly { readonly shard: number; readonly head: string }[] };

const HEARTBEAT_MS = 200;
const FOLLOW_MS = 50;
const QUIET_FOLLOW_MS = 150;
const WAIT_MS = 2000;
const PAGE = 1000;

const { at, ports, shards, ownerOfAll, masters, waits } = JSON.parse(process.env.BARE_NODE ?? '') as BareNode;
const ownerOf = (shard: number): number => ownerOfAll ?? shard % ports.length;
const keyOf = (shard: number): string => `bare:{${shard}}`;

/**
 * Append queue of one master, which runs one append at a time. Entries that arrive during an append are written
 * together by the next one, as one stream entry per shard.
 */
class AppendQueue {
  private waiting: { readonly shard: number; readonly text: string; readonly answer: () => void }[] = [];
  private isFlying = false;

  constructor(readonly client: Redis) {}

  append(shard: number, text: string, answer: () => void): void {
    this.waiting.push({ shard, text, answer });
    if (!this.isFlying) setImmediate(() => void this.fly());
    this.isFlying = true;
  }

  private async fly(): Promise<void> {
    const { client } = this;
    while (this.waiting.length > 0) {
      const append = this.waiting;
      this.waiting = [];
      const entries = new Map<number, string>();
      for (const { shard, text } of append) entries.set(shard, (entries.get(shard) ?? '') + text);
      client.stream.cork();
      const sent: Promise<unknown>[] = [...entries].map(([shard, entry]) => client.xadd(keyOf(shard), '*', 'd', entry));
      if (waits) sent.push(client.wait(1, WAIT_MS));
      client.stream.uncork();
      await Promise.all(sent);
      for (const { answer } of append) answer();
    }
    this.isFlying = false;
  }
}

/** Sends all messages of one event-loop iteration together. */
class Link {
  private readonly packr = new Packr();
  private readonly waiting = new Map<number, (body: string) => void>();
  private calls: [number, string][] = [];
  private answers: [number, string][] = [];
  private isDue = false;
  private ids = 0;

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (bytes: Buffer) => this.receive(this.packr.unpack(bytes)));
  }

  call(text: string, answer: (body: string) => void): void {
    this.waiting.set(++this.ids, answer);
    this.calls.push([this.ids, text]);
    this.sendSoon();
  }

  send(message: Wire): void {
    this.socket.send(this.packr.pack(message));
  }

  private receive(message: Wire): void {
    if (message.type === 'calls') for (const [id, text] of message.calls) this.carryOut(id, text);
    if (message.type !== 'answers') return;
    for (const [id, body] of message.answers) {
      this.waiting.get(id)?.(body);
      this.waiting.delete(id);
    }
  }

  private carryOut(id: number, text: string): void {
    own(shardOf(guessUsername(text), shards), text, (body) => {
      this.answers.push([id, body]);
      this.sendSoon();
    });
  }

  private sendSoon(): void {
    if (!this.isDue) setImmediate(() => this.sendAll());
    this.isDue = true;
  }

  private sendAll(): void {
    const { calls, answers } = this;
    this.calls = [];
    this.answers = [];
    this.isDue = false;
    if (calls.length > 0) this.send({ type: 'calls', calls });
    if (answers.length > 0) this.send({ type: 'answers', answers });
  }
}

const queues = masters.map((url) => new AppendQueue(connectTo(url)));
const readers = masters.map((url) => connectTo(url));
const masterOf = await mastersBySlot();
const links = new Map<number, Link>();
const heads = new Map<number, string>();

/** Resolves to a function that returns a shard's index in `masters`. */
async function mastersBySlot(): Promise<(shard: number) => number> {
  if (masters.length === 1) return () => 0;
  const ranges = (await (queues[0] as AppendQueue).client.call('CLUSTER', 'SLOTS')) as [
    number,
    number,
    [string, number],
  ][];
  return (shard) => {
    const slot = calculateSlot(keyOf(shard));
    const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1];
    return masters.findIndex((url) => url.endsWith(`:${port}`));
  };
}

function own(shard: number, text: string, answer: (body: string) => void): void {
  const body = echoOf(text);
  (queues[masterOf(shard)] as AppendQueue).append(shard, text, () => answer(body));
}

async function follow(shard: number): Promise<void> {
  const page = await (readers[masterOf(shard)] as Redis).xrange(
    keyOf(shard),
    `(${heads.get(shard) ?? '0'}`,
    '+',
    'COUNT',
    PAGE,
  );
  const newest = page.at(-1)?.[0];
  if (newest === undefined) return;
  heads.set(shard, newest);
  newsMs.set(shard, performance.now());
}

const newsMs = new Map<number, number>();
const all = Array.from({ length: shards }, (_, shard) => shard);
const mine = all.filter((shard) => ownerOf(shard) === at);
const followed = all.filter((shard) => ports.length > 1 && (ownerOf(shard) + 1) % ports.length === at);
let rounds = 0;

/** Reads the new entries of all followed logs. Like walletd, polls idle logs less often. */
function followAll(): void {
  const isThird = ++rounds % (QUIET_FOLLOW_MS / FOLLOW_MS) === 0;
  const due = followed.filter((shard) => isThird || performance.now() - (newsMs.get(shard) ?? 0) < 1000);
  for (const { stream } of readers) stream.cork();
  for (const shard of due) void follow(shard);
  for (const { stream } of readers) stream.uncork();
}

function sendHeartbeat(): void {
  for (const link of links.values())
    link.send({ type: 'pulse', serving: mine.map((shard) => ({ shard, head: '0'.repeat(40) })) });
  void (readers[0] as Redis).call('TIME');
}

const server = createServer().listen(ports[at], '127.0.0.1');
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, { url }) => {
  links.set(Number(url?.slice(1)), new Link(socket));
});
for (const [other, port] of ports.entries()) if (other < at) dial(other, port);

function dial(other: number, port: number): void {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${at}`, { perMessageDeflate: false });
  socket.on('open', () => links.set(other, new Link(socket)));
  // The other node is starting as well, so retry until it listens.
  socket.on('error', () => setTimeout(() => dial(other, port), FOLLOW_MS));
}

while (links.size < ports.length - 1) await delay(FOLLOW_MS);
systemTimers.every(FOLLOW_MS, followAll);
systemTimers.every(HEARTBEAT_MS, sendHeartbeat);
await serveEcho(true, (bytes, answer) => {
  const text = bytes.toString();
  const shard = shardOf(guessUsername(text), shards);
  const owner = ownerOf(shard);
  if (owner === at) own(shard, text, answer);
  else links.get(owner)?.call(text, answer);
});
