import { type HashKey, keyedHash } from '../base/keyed-hash.js';
import { ENDPOINTS } from '../callback/callbacks.js';
import type { Endpoint } from '../wallet/command.js';

/** The window is divided into this many parts. Each generation accepts the bodies of one part. */
const WINDOW_PARTS = 8;
/**
 * Maximum number of generations: those that the window overlaps (the newest and the oldest only in part), plus a spare.
 */
const GENERATIONS_MAX = WINDOW_PARTS + 2;
/** Half of a generation's slots stay free, and a slot takes 9 bytes, so a generation takes at most 2.25 MiB. */
const GENERATION_BODIES_MAX = 131_072;
const SLOTS_MIN = 1024;
const SCRATCH_BYTES_MIN = 4096;

export interface FirstEndpointsMeasures {
  readonly bodies: number;
  /**
   * The period that the memory covers, in ms. The period is shorter than the window after a start, or after the memory
   * was full.
   */
  readonly spanMs: number;
}

/**
 * Remembers to which endpoint each body was sent first, for as long as its signature is valid. The platform signs the
 * body and the time, but not the path. An attacker who has captured a request could therefore send it to a different
 * endpoint, where the same fields have a different meaning.
 *
 * Bodies are identified by a keyed 64-bit hash. A thread remembers at least its last 1,179,648 bodies within the
 * window, in at most 23 MiB. The memory belongs to the thread: after a crash, a restart or a move of the shard, it
 * starts empty.
 */
export class FirstEndpoints {
  /** Generations, oldest first. */
  private readonly generations: Generation[] = [];
  private scratch = Buffer.allocUnsafe(SCRATCH_BYTES_MIN);
  private readonly upper = new Uint32Array(1);

  constructor(
    private readonly windowMs: number,
    private readonly key: HashKey,
    /** Bodies older than this are not remembered. The time is on the same clock as `nowMs` in `first`. */
    private reachesToMs: number,
  ) {}

  /** The endpoint to which this body was sent first; `endpoint` if the body is new. */
  first(endpoint: Endpoint, body: string, nowMs: number): Endpoint {
    const byteLength = this.write(body);
    const low = keyedHash(this.key, 0, 0, this.scratch, 0, byteLength, this.upper);
    const high = this.upper[0] as number;
    this.dropExpired(nowMs);
    for (const generation of this.generations) {
      const known = generation.find(low, high);
      if (known !== 0) return ENDPOINTS[known - 1] as Endpoint;
    }
    this.newest(nowMs).add(low, high, ENDPOINTS.indexOf(endpoint) + 1);
    return endpoint;
  }

  measures(nowMs: number): FirstEndpointsMeasures {
    this.dropExpired(nowMs);
    const bodies = this.generations.reduce((sum, { bodies }) => sum + bodies, 0);
    return { bodies, spanMs: Math.min(nowMs - this.reachesToMs, this.windowMs) };
  }

  private write(body: string): number {
    const bytesMax = body.length * 3;
    if (bytesMax > this.scratch.length) this.scratch = Buffer.allocUnsafe(bytesMax);
    return this.scratch.write(body);
  }

  private get partMs(): number {
    return this.windowMs / WINDOW_PARTS;
  }

  private dropExpired(nowMs: number): void {
    const beganBeforeMs = nowMs - this.windowMs - this.partMs;
    while ((this.generations[0]?.beganMs ?? nowMs) <= beganBeforeMs) this.generations.shift();
  }

  private newest(nowMs: number): Generation {
    const newest = this.generations.at(-1);
    if (newest !== undefined && newest.bodies < GENERATION_BODIES_MAX && nowMs - newest.beganMs < this.partMs) {
      return newest;
    }
    if (this.generations.length === GENERATIONS_MAX) {
      this.generations.shift();
      this.reachesToMs = Math.max(this.reachesToMs, this.generations[0]?.beganMs ?? nowMs);
    }
    // Consecutive generations have similar traffic, so start at the previous size to avoid growing.
    const next = new Generation(nowMs, newest?.slots ?? SLOTS_MIN);
    this.generations.push(next);
    return next;
  }
}

/** Hashes of bodies with the number of their endpoint, in an open-addressing table with linear probing. */
class Generation {
  bodies = 0;
  private lows: Uint32Array;
  private highs: Uint32Array;
  /** The endpoint number of each slot; 0 if the slot is free. */
  private endpoints: Uint8Array;

  constructor(
    readonly beganMs: number,
    slots: number,
  ) {
    this.lows = new Uint32Array(slots);
    this.highs = new Uint32Array(slots);
    this.endpoints = new Uint8Array(slots);
  }

  get slots(): number {
    return this.endpoints.length;
  }

  /** The endpoint number stored with this hash, or 0. */
  find(low: number, high: number): number {
    return this.endpoints[this.slotOf(low, high)] as number;
  }

  add(low: number, high: number, endpoint: number): void {
    if (this.bodies >= this.slots / 2) this.grow();
    this.put(low, high, endpoint);
    this.bodies++;
  }

  private put(low: number, high: number, endpoint: number): void {
    const slot = this.slotOf(low, high);
    this.lows[slot] = low;
    this.highs[slot] = high;
    this.endpoints[slot] = endpoint;
  }

  /** The slot with this hash, or the free slot in which to insert it. */
  private slotOf(low: number, high: number): number {
    const mask = this.slots - 1;
    let slot = low & mask;
    while (this.endpoints[slot] !== 0 && (this.lows[slot] !== low || this.highs[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private grow(): void {
    const { lows, highs, endpoints } = this;
    this.lows = new Uint32Array(endpoints.length * 2);
    this.highs = new Uint32Array(endpoints.length * 2);
    this.endpoints = new Uint8Array(endpoints.length * 2);
    for (let slot = 0; slot < endpoints.length; slot++) {
      const endpoint = endpoints[slot] as number;
      if (endpoint !== 0) this.put(lows[slot] as number, highs[slot] as number, endpoint);
    }
  }
}
