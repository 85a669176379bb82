import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { FullCollection } from './gc-watch.js';

/** What happened inside a serving process while it was measured. */
export interface Vitals {
  /** Collections of the whole heap, in all of its threads; undefined: nobody can see them from here. */
  readonly fullCollections: number | undefined;
  /** For which a thread stood still at the end of one; 0 without one. */
  readonly longestPauseMs: number;
  /** When the measured time began: the players and their open bets are there, and nothing more was played. */
  readonly residentBefore: number;
  readonly residentAfter: number;
}

/** A process that serves, watched from outside. */
export interface Serving {
  /** NaN when nobody tells it. */
  residentBytes(): Promise<number>;
  /** Of these, what is not mapped from files, which the system may drop; all, where it is not told apart. */
  ownBytes(): Promise<number>;
  /** Of this time, in milliseconds since 1970. */
  collectionsBetween(fromMs: number, toMs: number): Pick<Vitals, 'fullCollections' | 'longestPauseMs'>;
}

/** One that the bench has started. */
export class ServingProcess implements Serving {
  private readonly collections: FullCollection[] = [];

  constructor(readonly pid: number) {}

  collected(one: FullCollection): void {
    this.collections.push(one);
  }

  async residentBytes(): Promise<number> {
    return memoryOf(this.pid, 'VmRSS');
  }

  async ownBytes(): Promise<number> {
    return memoryOf(this.pid, 'RssAnon');
  }

  collectionsBetween(fromMs: number, toMs: number) {
    const within = this.collections.filter((one) => one.fromMs + one.pauseMs >= fromMs && one.fromMs <= toMs);
    return { fullCollections: within.length, longestPauseMs: Math.max(0, ...within.map(({ pauseMs }) => pauseMs)) };
  }
}

function memoryOf(pid: number, name: 'VmRSS' | 'RssAnon'): number {
  const kib =
    process.platform === 'linux'
      ? new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kib) * 1024;
}
