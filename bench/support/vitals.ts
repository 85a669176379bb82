import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { FullCollection } from './gc-watch.js';

/** A serving process's vitals during the measured period. */
export interface Vitals {
  /** Full collections in all threads; undefined if they cannot be observed from here. */
  readonly fullCollections: number | undefined;
  /** Longest pause of a thread at the end of a full collection; 0 if there was none. */
  readonly longestPauseMs: number;
  /**
   * Resident bytes at the start of the measured period, when the players and their open bets exist but nothing else has
   * been played.
   */
  readonly residentBefore: number;
  readonly residentAfter: number;
  /** Processor time of all threads in the measured period, in ms; NaN if the process does not report it. */
  readonly cpuMs: number;
}

/** A serving process, observed from outside. */
export interface Serving {
  /** Resident bytes; NaN if the process does not report its memory. */
  residentBytes(): Promise<number>;
  /**
   * Resident bytes not mapped from files, which the system could reclaim. All resident bytes if they cannot be
   * separated.
   */
  ownBytes(): Promise<number>;
  /** Processor time that all threads have used since the process began, in ms; NaN if it does not report that. */
  cpuMs(): Promise<number>;
  /** Full collections in this period; times are in milliseconds since 1970. */
  collectionsBetween(fromMs: number, toMs: number): Pick<Vitals, 'fullCollections' | 'longestPauseMs'>;
}

/** A process started by the bench. */
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

  async cpuMs(): Promise<number> {
    return cpuMsOf(this.pid);
  }

  collectionsBetween(fromMs: number, toMs: number) {
    const within = this.collections.filter((one) => one.fromMs + one.pauseMs >= fromMs && one.fromMs <= toMs);
    return { fullCollections: within.length, longestPauseMs: Math.max(0, ...within.map(({ pauseMs }) => pauseMs)) };
  }
}

/** Linux counts processor time in ticks, 100 a second on every architecture that Node supports (man 5 proc). */
const TICK_MS = 10;

function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  // The second field is the program's name in parentheses, which can contain blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [userTicks, systemTicks] = fields.slice(11, 13).map(Number);
  return ((userTicks ?? Number.NaN) + (systemTicks ?? Number.NaN)) * TICK_MS;
}

function memoryOf(pid: number, name: 'VmRSS' | 'RssAnon'): number {
  const kib =
    process.platform === 'linux'
      ? new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kib) * 1024;
}
