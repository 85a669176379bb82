import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { Packr } from 'msgpackr';
import { isKnownMessage } from '../../src/cluster/known-messages.js';
import { isKnown, isKnownResult } from '../../src/cluster/known-requests.js';
import type { PeerAddress, PeerEvents, PeerLinks, PeerMessage } from '../../src/cluster/peer-protocol.js';
import type { Random } from './random.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

const REDIAL_MS = 100;
/** The time after which a link to a dead machine is abandoned, because no answer arrives. */
const SILENT_LINK_MS = 4000;
/** Message types that are copied in a cheaper way, because packing them took a tenth of the whole run. */
const FREQUENT: ReadonlySet<PeerMessage['type']> = new Set(['pulse', 'calls', 'replies']);

interface Member {
  readonly process: SimulatedProcess;
  readonly events: PeerEvents;
  readonly links: SimulatedLinks;
}

/**
 * Network between processes. Any two processes can be disconnected from each other. Messages take time but stay in
 * order.
 */
export class Network {
  private readonly members = new Map<string, Member>();
  private readonly cuts = new Set<string>();
  /** Hook for tests that wait for a message to be sent. */
  onSent: (from: string, to: string, message: PeerMessage) => void = () => {};
  /** Packs and unpacks messages, to check that they are serializable as on the wire. */
  private readonly packr = new Packr({ useRecords: false, moreTypes: true });

  constructor(
    readonly time: VirtualTime,
    private readonly random: Random,
  ) {}

  join(tag: string, process: SimulatedProcess, events: PeerEvents): SimulatedLinks {
    const links = new SimulatedLinks(tag, process, this);
    this.members.set(tag, { process, events, links });
    return links;
  }

  leave(tag: string): void {
    this.members.delete(tag);
  }

  cut(a: string, b: string): void {
    this.cuts.add(pairOf(a, b));
  }

  mend(): void {
    this.cuts.clear();
  }

  isCut(a: string, b: string): boolean {
    return this.cuts.size > 0 && this.cuts.has(pairOf(a, b));
  }

  member(tag: string): Member | undefined {
    return this.members.get(tag);
  }

  latencyMs(): number {
    return this.random.chance(0.01) ? this.random.between(1, 20) : this.random.between(0.02, 0.3);
  }

  copy(message: PeerMessage): PeerMessage {
    if (FREQUENT.has(message.type)) return plainCopy(message) as PeerMessage;
    return this.packr.unpack(this.packr.pack(message)) as PeerMessage;
  }
}

/** Copies a value made of plain objects, arrays and bytes, with the same result as packing and unpacking. */
function plainCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return arrayCopy(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  const copy: Record<string, unknown> = {};
  for (const field of Object.keys(value)) copy[field] = plainCopy((value as Record<string, unknown>)[field]);
  return copy;
}

/** Copies an array. Fast for columns of numbers and strings, which most arrays are. */
function arrayCopy(items: readonly unknown[]): unknown[] {
  const copy = items.slice();
  for (let i = 0; i < copy.length; i++) {
    const item = copy[i];
    if (typeof item === 'object' && item !== null) copy[i] = plainCopy(item);
  }
  return copy;
}

/**
 * Asserts that a node of this release accepts the message of another node, including all requests and results in it.
 */
function mustBeKnown(message: PeerMessage): void {
  const isKnownInside =
    message.type === 'asks'
      ? message.requests.every(isKnown)
      : message.type !== 'results' || message.results.every(isKnownResult);
  assert.ok(isKnownMessage(message) && isKnownInside, `a node does not know ${inspect(message, { depth: 5 })}`);
}

/** Link between two processes, as both ends see it. */
class Link {
  isBroken = false;
  /** Arrival time of the newest message in each direction, so that messages do not overtake each other. */
  private readonly arrivesMs = new Map<string, number>();

  constructor(private readonly network: Network) {}

  send(from: string, to: string, message: PeerMessage): void {
    const { network } = this;
    network.onSent(from, to, message);
    const copy = network.copy(message);
    mustBeKnown(copy);
    const atMs = Math.max(network.time.nowMs + network.latencyMs(), this.arrivesMs.get(to) ?? 0);
    this.arrivesMs.set(to, atMs);
    network.time.after(atMs - network.time.nowMs, () => this.arrive(from, to, copy));
  }

  private arrive(from: string, to: string, message: PeerMessage): void {
    const { network } = this;
    const receiver = network.member(to);
    if (this.isBroken || receiver === undefined) return;
    // A cut loses messages in transit and breaks their order. The link cannot be used after that, and its ends notice
    // this after a while.
    if (network.isCut(from, to)) {
      this.isBroken = true;
      for (const [tag, peer] of [
        [from, to],
        [to, from],
      ] as const) {
        network.time.after(SILENT_LINK_MS, () => network.member(tag)?.links.lost(peer, this));
      }
      return;
    }
    receiver.process.here(() => {
      if (receiver.links.has(from, this)) receiver.events.onMessage(from, message);
    });
  }
}

export class SimulatedLinks implements PeerLinks {
  private readonly links = new Map<string, Link>();
  private wanted: ReadonlyMap<string, PeerAddress> = new Map();
  private readonly dialling = new Set<string>();
  private isClosed = false;

  constructor(
    private readonly tag: string,
    private readonly process: SimulatedProcess,
    private readonly network: Network,
  ) {}

  async listen(): Promise<number> {
    return 1;
  }

  setCertificate(): void {}

  keep(peers: ReadonlyMap<string, PeerAddress>): void {
    this.wanted = peers;
    for (const tag of peers.keys()) if (tag < this.tag) this.dial(tag);
    for (const tag of this.links.keys()) if (!peers.has(tag)) this.end(tag);
  }

  isUp(tag: string): boolean {
    return this.links.has(tag);
  }

  has(tag: string, link: Link): boolean {
    return this.links.get(tag) === link;
  }

  send(tag: string, message: PeerMessage): boolean {
    const link = this.links.get(tag);
    link?.send(this.tag, tag, message);
    return link !== undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const tag of [...this.links.keys()]) this.end(tag);
  }

  /** Breaks the link as if one process had ended: the other end notices immediately. */
  die(): void {
    this.isClosed = true;
    for (const [tag, link] of this.links) {
      link.isBroken = true;
      this.network.time.after(this.network.latencyMs(), () => this.network.member(tag)?.links.lost(this.tag, link));
    }
    this.network.leave(this.tag);
  }

  lost(tag: string, link: Link): void {
    this.process.here(() => {
      if (this.links.get(tag) !== link) return;
      this.links.delete(tag);
      this.network.member(this.tag)?.events.onDown(tag);
      if (this.wanted.has(tag) && tag < this.tag) this.dial(tag);
    });
  }

  private end(tag: string): void {
    const link = this.links.get(tag);
    if (link === undefined) return;
    link.isBroken = true;
    this.lost(tag, link);
    this.network.time.after(this.network.latencyMs(), () => this.network.member(tag)?.links.lost(this.tag, link));
  }

  private dial(tag: string): void {
    if (this.dialling.has(tag) || this.links.has(tag) || this.isClosed) return;
    this.dialling.add(tag);
    this.network.time.after(this.network.latencyMs() * 4, () => this.process.here(() => this.dialled(tag)));
  }

  private dialled(tag: string): void {
    const peer = this.network.member(tag);
    this.dialling.delete(tag);
    if (!this.wanted.has(tag) || this.isClosed) return;
    if (peer === undefined || peer.process.isDead || peer.links.isClosed) {
      this.network.member(this.tag)?.events.onRefused(tag);
    } else if (!this.network.isCut(this.tag, tag)) {
      const link = new Link(this.network);
      this.accept(tag, link);
      peer.process.here(() => peer.links.accept(this.tag, link));
      return;
    }
    this.network.time.after(REDIAL_MS, () => this.process.here(() => this.dial(tag)));
  }

  private accept(tag: string, link: Link): void {
    const events = this.network.member(this.tag)?.events;
    const former = this.links.get(tag);
    this.links.set(tag, link);
    if (former !== undefined) events?.onDown(tag);
    events?.onUp(tag);
  }
}

function pairOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
