import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { FullCollection } from './gc-watch.js';

/** Vitals of a serving process during the measured time. */
export interface Vitals {
  /** Collections of the whole heap, in all of its threads. Undefined: not observable from here. */
  readonly fullCollections: number | undefined;
  /** Longest pause of a thread at the end of a full collection; 0 without one. */
  readonly longestPauseMs: number;
  /**
   * Resident bytes at the start of the measured time: the players and their open bets exist, and nothing more was
   * played.
   */
  readonly residentBefore: number;
  readonly residentAfter: number;
}

/** A serving process, watched from outside. */
export interface Serving {
  /** NaN when the process does not report it. */
  residentBytes(): Promise<number>;
  /** Resident bytes not mapped from files, which the system may drop; all resident bytes where they cannot be separated. */
  ownBytes(): Promise<number>;
  /** Full collections in this period, in milliseconds since 1970. */
  collectionsBetween(fromMs: number, toMs: number): Pick<Vitals, 'fullCollections' | 'longestPauseMs'>;
}

/** A process that the bench has started. */
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
