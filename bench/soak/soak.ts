import { Scrape } from '../../test/support/scrape.js';
import { type Generated, generate } from '../load/generate.js';
import { announce } from '../load/race.js';
import type { Mix } from '../load/stories.js';
import { Archives } from '../support/archive.js';
import { withCleanUp } from '../support/clean-up.js';
import { type Server, startWalletd, verify } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';

export interface SoakSettings extends StoreChoice {
  readonly callbacks: number;
  readonly players: number;
  /** Requests per second of an open loop. */
  readonly rate: number;
  readonly connections: number;
  readonly openBets: number;
  /** How long closed rounds stay in memory. */
  readonly memorySeconds: number;
  readonly mix: Mix;
}

/** What was seen when a minute had passed. */
export interface Minute {
  readonly minute: number;
  readonly answers: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly recordBytes: number;
  /** Memory that knowing what the archive has takes. */
  readonly namesBytes: number;
  /** Ids and rounds in the archive. */
  readonly names: number;
  /** Held in memory. */
  readonly transactions: number;
  readonly archivedRounds: number;
}

export interface SoakReport {
  readonly durability: string;
  readonly settings: SoakSettings;
  readonly minutes: readonly Minute[];
  readonly whole: Generated;
}

const MINUTE = 60;

/** One server for as long as so many callbacks take: what grows, and what stands still. */
export function runSoak(settings: SoakSettings): Promise<SoakReport> {
  return withCleanUp(async () => {
    const { callbacks, rate, players, connections, openBets, mix, memorySeconds, folder } = settings;
    const store = await startStore(settings);
    const archives = new Archives(store, folder, memorySeconds);
    announce(store, settings);
    const server = await startWalletd(store, 0, { ...(await archives.settings()), name: 'soak' });
    const minutes: Minute[] = [];
    const looking: Promise<unknown>[] = [];
    const load = {
      mix,
      connections,
      players,
      openBets,
      rate,
      seconds: Math.ceil(callbacks / rate),
      pieceSeconds: MINUTE,
    };
    let answers = 0;
    const whole = await generate(
      server,
      load,
      (share) => console.log(`${Math.round(share * 100)} % of the players are there`),
      ({ count, p50Ms, p99Ms, maxMs }) => {
        answers += count;
        const told = { minute: minutes.length + looking.length + 1, answers, p50Ms, p99Ms, longestMs: maxMs };
        looking.push(lookInto(server).then((seen) => note({ ...told, ...seen }, minutes)));
      },
    );
    await Promise.all(looking);
    verify(server);
    return { durability: store.durability, settings, minutes, whole };
  });
}

async function lookInto({ adminUrl, process: serving }: Server) {
  const scrape = await Scrape.of(adminUrl ?? '');
  return {
    residentBytes: await serving.residentBytes(),
    heapBytes: scrape.value('walletd_heap_used_bytes'),
    recordBytes: scrape.value('walletd_record_bytes', { part: 'taken' }),
    names: scrape.value('walletd_archive_names'),
    namesBytes: scrape.value('walletd_archive_names_bytes'),
    transactions: scrape.value('walletd_transactions'),
    archivedRounds: scrape.value('walletd_archived_rounds_total'),
  };
}

function note(minute: Minute, minutes: Minute[]): void {
  minutes.push(minute);
  console.log(
    soakRow(minute)
      .map((cell, i) => cell.padStart(SOAK_COLUMNS[i]?.right.length ?? 0))
      .join('  '),
  );
}

export const SOAK_COLUMNS = [
  { right: 'minute' },
  { right: 'answers' },
  { right: 'p50 ms' },
  { right: 'p99 ms' },
  { right: 'longest ms' },
  { right: 'resident MB' },
  { right: 'heap MB' },
  { right: 'records MB' },
  { right: 'in memory' },
  { right: 'in the archive' },
  { right: 'bytes a name' },
] as const;

export function soakRow(minute: Minute): string[] {
  const { answers, p50Ms, p99Ms, longestMs, residentBytes, heapBytes, recordBytes, names, namesBytes } = minute;
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  return [
    String(minute.minute),
    String(answers),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    longestMs.toFixed(0),
    mb(residentBytes),
    mb(heapBytes),
    mb(recordBytes),
    String(minute.transactions),
    String(names),
    (namesBytes / Math.max(names, 1)).toFixed(2),
  ];
}
