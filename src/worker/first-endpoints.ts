import { type HashKey, keyedHash } from '../base/keyed-hash.js';
import { ENDPOINTS } from '../callback/callbacks.js';
import type { Endpoint } from '../wallet/command.js';

/** A generation takes bodies for this part of the window. */
const WINDOW_PARTS = 8;
/** Generations that the window spans, the newest and the oldest only in part, and one to spare. */
const GENERATIONS_MAX = WINDOW_PARTS + 2;
/** Half of a generation's slots stay free, and a slot has 9 bytes: 2.25 MiB at most. */
const GENERATION_BODIES_MAX = 131_072;
const SLOTS_MIN = 1024;
const SCRATCH_BYTES_MIN = 4096;

export interface FirstEndpointsMeasures {
  readonly bodies: number;
  /** How far back the memory reaches, in milliseconds: less than the window after a start, or when it was full. */
  readonly spanMs: number;
}

/**
 * Remembers the endpoint that each body was first sent to, for as long as its signature can be used. The platform signs the body
 * and the time, and not the path: whoever has captured a request can send it to another endpoint, where the same fields mean
 * something else.
 *
 * Bodies are known by a keyed hash of 64 bits. A thread remembers at least its last 1,179,648 bodies of the window, in at most
 * 23 MiB. The memory is the thread's: after a crash, a restart or a move of the shard it begins anew.
 */
export class FirstEndpoints {
  /** Oldest first. */
  private readonly generations: Generation[] = [];
  private scratch = Buffer.allocUnsafe(SCRATCH_BYTES_MIN);
  private readonly upper = new Uint32Array(1);

  constructor(
    private readonly windowMs: number,
    private readonly key: HashKey,
    /** Nothing that came before is remembered. On the clock that `first` is asked with. */
    private reachesToMs: number,
  ) {}

  /** The endpoint that this body came to first: `endpoint` itself, or another one. */
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
    // Traffic is much the same from one to the next: as large from the beginning, it never grows on the way.
    const next = new Generation(nowMs, newest?.slots ?? SLOTS_MIN);
    this.generations.push(next);
    return next;
  }
}

/** Hashes of bodies with the number of an endpoint, in open addressing with linear probing. */
class Generation {
  bodies = 0;
  private lows: Uint32Array;
  private highs: Uint32Array;
  /** 0: the slot is free. */
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

  /** The number that was added with this hash, or 0. */
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

  /** The hash's slot, or the free one in which it belongs. */
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
