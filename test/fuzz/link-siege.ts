import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { A, B, End } from '../peer/link-end.js';
import { Finding } from './finding.js';
import { mutateBytes } from './mutate-bytes.js';
import type { Random } from './random.js';

const MESSAGES_MAX = 6;
/**
 * Time limit for a new link. A lost link is redialed every 100 ms, and a hanging link is abandoned after 3 s. On a machine
 * with 15 times as many processes as cores, dials timed out for 20 s in a row.
 */
const HEAL_MS = 120_000;
const POLL_MS = 2;
const MUTATIONS_MAX = 3;
/** The header size of a short frame from the dialing end, including its mask. */
const HEAD_BYTES = 6;

/**
 * Two ends of a link, and a relay that changes bytes in either direction, before and after the proof of identity. Each
 * end may receive only messages that were sent, each once and in order. The link must be re-established every time.
 */
export class LinkSiege {
  private readonly ends = [new End({ tag: A }), new End({ tag: B })] as const;
  private readonly server = createServer((near) => this.carry(near));
  private readonly sockets = new Set<Socket>();
  /** Number of chunks that the relay forwards unchanged before it corrupts one. */
  private passing = Number.POSITIVE_INFINITY;
  private changed = 0;
  private sent = 0;
  private heard = 0;
  private connections = 0;

  constructor(private readonly random: Random) {}

  /**
   * Resolves to the siege's figures: links established, changes, forged frames, messages sent and received. Rejects
   * with a `Finding`.
   */
  async run(goesOn: (attacks: number) => boolean): Promise<readonly number[]> {
    const [a, b] = this.ends;
    try {
      await Promise.all(this.ends.map((end) => end.listen()));
      await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
      a.keep([B, b.port]);
      b.keep([A, (this.server.address() as AddressInfo).port]);
      for (let n = 0; goesOn(n); n++) await this.attack();
      const forged = a.counts.forgedFrames + b.counts.forgedFrames;
      return [this.connections, this.changed, forged, this.sent, this.heard];
    } finally {
      await Promise.all(this.ends.map(({ links }) => links.close()));
      for (const socket of this.sockets) socket.destroy();
      this.server.close();
    }
  }

  private async attack(): Promise<void> {
    const { random } = this;
    await this.healed();
    this.passing = random.between(0, MESSAGES_MAX);
    // Ending links forces new ones while bytes are being changed, so that handshakes are also attacked.
    if (random.oneIn(3)) for (const socket of this.sockets) socket.destroy();
    for (let n = random.between(1, MESSAGES_MAX); n > 0; n--) this.send(random.oneIn(2));
    await delay(random.between(0, 5));
    this.check();
  }

  private send(fromA: boolean): void {
    const [a, b] = this.ends;
    const message = messageOf(this.sent);
    if (fromA ? a.links.send(B, message) : b.links.send(A, message)) this.sent++;
  }

  /** Waits until both ends exchange messages over an unchanged link. */
  private async healed(): Promise<void> {
    const [a, b] = this.ends;
    this.passing = Number.POSITIVE_INFINITY;
    const endMs = performance.now() + HEAL_MS;
    for (let [toA, toB] = [false, false]; !(toA && toB); ) {
      if (performance.now() > endMs) throw new Finding(`there was no link for ${HEAL_MS} ms: ${b.reasons.at(-1)}`);
      const [heardByA, heardByB] = [a.messages.length, b.messages.length];
      this.send(true);
      this.send(false);
      await delay(POLL_MS);
      toA ||= a.messages.length > heardByA;
      toB ||= b.messages.length > heardByB;
      this.check();
    }
  }

  private check(): void {
    for (const { messages, heard } of this.ends) {
      let before = -1;
      for (const message of messages) {
        const { sequence } = message as { sequence: number };
        if (!isDeepStrictEqual(message, messageOf(sequence)) || sequence >= this.sent) {
          throw new Finding(`an end received ${JSON.stringify(message)}, which was never sent`);
        }
        if (sequence <= before) throw new Finding(`an end heard message ${sequence} after message ${before}`);
        before = sequence;
      }
      this.heard += messages.length;
      // Later messages have higher numbers than all of these.
      messages.splice(0);
      heard.splice(0);
    }
  }

  private carry(near: Socket): void {
    this.connections++;
    const far = connect(this.ends[0].port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (bytes) => to.write(this.passed(bytes)));
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => {});
    }
  }

  private passed(bytes: Buffer): Buffer {
    if (this.passing-- !== 0) return bytes;
    this.changed++;
    if (this.random.oneIn(6)) return Buffer.concat([bytes, bytes]);
    // Keep the WebSocket lengths, and change only the payload.
    if (this.random.oneIn(2) && bytes.length > HEAD_BYTES) return flipped(this.random, bytes);
    let changed = bytes;
    for (let n = this.random.between(1, MUTATIONS_MAX); n > 0; n--) changed = mutateBytes(this.random, changed);
    return changed;
  }
}

function flipped(random: Random, bytes: Buffer): Buffer {
  const at = random.between(HEAD_BYTES, bytes.length - 1);
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7));
  return changed;
}

/** The nth message from either end. */
function messageOf(n: number): PeerMessage {
  return { type: 'want', shard: (n * 7919) % 1000, sequence: n };
}
