import { END, HASH_BITS, type HashCursor } from './hash-run.js';

const LEAST = 256;
/** Above this share of places in use it grows. */
const LOAD_MAX = 0.7;
/** Places behind the last, so that nothing begins again at the first. */
const SLACK = 64;
const SPACE = 2 ** HASH_BITS;

/**
 * A set of hashes that grows. The place of a hash follows from its upper bits, or is the next one that is free: so what
 * lies between two free places is in no order, and everything else is.
 */
export class HashTable {
  count = 0;
  /** One more than the hash; 0 in a place that is free. */
  private places: Uint32Array;
  private size: number;

  /** `expected`: so many fit in without a pause to grow. */
  constructor(expected = 0) {
    this.size = Math.max(LEAST, Math.ceil(expected / LOAD_MAX));
    this.places = new Uint32Array(this.size + SLACK);
  }

  get bytes(): number {
    return this.places.byteLength;
  }

  has(hash: number): boolean {
    const { places } = this;
    for (let place = this.placeOf(hash); places[place] !== 0; place++) if (places[place] === hash + 1) return true;
    return false;
  }

  add(hash: number): void {
    while (!this.tryAdd(hash)) this.grow();
    if (this.count > this.size * LOAD_MAX) this.grow();
  }

  cursor(): HashCursor {
    return new TableCursor(this.places);
  }

  private tryAdd(hash: number): boolean {
    const { places } = this;
    let place = this.placeOf(hash);
    while (places[place] !== 0) {
      if (places[place] === hash + 1) return true;
      // The last place stays free: there every search ends.
      if (++place >= places.length - 1) return false;
    }
    if (place >= places.length - 1) return false;
    places[place] = hash + 1;
    this.count++;
    return true;
  }

  private placeOf(hash: number): number {
    return Math.floor((hash * this.size) / SPACE);
  }

  private grow(): void {
    const { places } = this;
    this.size *= 2;
    this.count = 0;
    this.places = new Uint32Array(this.size + SLACK);
    for (const held of places) if (held !== 0) this.add(held - 1);
  }
}

class TableCursor implements HashCursor {
  private place = 0;
  /** What stands between two free places, in order. */
  private cluster: readonly number[] = [];
  private gone = 0;

  constructor(private readonly places: Uint32Array) {}

  next(): number {
    if (this.gone === this.cluster.length) this.nextCluster();
    return this.cluster[this.gone++] ?? END;
  }

  private nextCluster(): void {
    const { places } = this;
    while (this.place < places.length && places[this.place] === 0) this.place++;
    const cluster: number[] = [];
    while (this.place < places.length && places[this.place] !== 0) cluster.push((places[this.place++] as number) - 1);
    if (cluster.length > 1) cluster.sort((a, b) => a - b);
    this.cluster = cluster;
    this.gone = 0;
  }
}
