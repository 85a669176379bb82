import { withCleanUp } from '../../test/support/clean-up.js';
import { Scrape } from '../../test/support/scrape.js';
import { type Generated, generate } from '../load/generate.js';
import { announce } from '../load/race.js';
import type { Mix } from '../load/stories.js';
import { Archives } from '../support/archive.js';
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

/** Measurements at the end of a minute. */
export interface Minute {
  readonly minute: number;
  readonly answers: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly residentBytes: number;
  /** Resident memory that is not mapped from files. LMDB's memory is mapped, and the system may reclaim it. */
  readonly ownBytes: number;
  readonly heapBytes: number;
  readonly recordBytes: number;
  /** Memory used by the archive's key filter. */
  readonly namesBytes: number;
  /** IDs and rounds in the archive. */
  readonly names: number;
  /** Transactions held in memory. */
  readonly transactions: number;
  readonly archivedRounds: number;
  /** Requests that waited for an archive lookup that found nothing. */
  readonly lookedInVain: number;
}

export interface SoakReport {
  readonly durability: string;
  readonly settings: SoakSettings;
  readonly minutes: readonly Minute[];
  readonly whole: Generated;
}

const MINUTE = 60;
const CELL_MIN = 8;

/** Runs one server for a given number of callbacks and measures how its memory grows. */
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
    let minute = 0;
    console.log(printed(SOAK_COLUMNS.map(({ right }) => right)));
    const whole = await generate(
      server,
      load,
      (share) => console.log(`${Math.round(share * 100)} % of the players are there`),
      ({ count, p50Ms, p99Ms, maxMs }) => {
        answers += count;
        const line = { minute: ++minute, answers, p50Ms, p99Ms, longestMs: maxMs };
        looking.push(lookInto(server).then((seen) => note({ ...line, ...seen }, minutes)));
      },
    );
    await Promise.all(looking);
    for (const sentence of soakSentences(minutes)) console.log(sentence);
    verify(server);
    return { durability: store.durability, settings, minutes, whole };
  });
}

async function lookInto({ adminUrl, process: serving }: Server) {
  const scrape = await Scrape.of(adminUrl ?? '');
  return {
    residentBytes: await serving.residentBytes(),
    ownBytes: await serving.ownBytes(),
    heapBytes: scrape.value('walletd_heap_used_bytes'),
    recordBytes: scrape.value('walletd_record_bytes', { part: 'taken' }),
    names: scrape.value('walletd_archive_names'),
    namesBytes: scrape.value('walletd_archive_names_bytes'),
    transactions: scrape.value('walletd_transactions'),
    archivedRounds: scrape.value('walletd_archived_rounds_total'),
    lookedInVain: scrape.value('walletd_archive_lookups_total', { result: 'nothing' }),
  };
}

function note(minute: Minute, minutes: Minute[]): void {
  minutes.push(minute);
  console.log(printed(soakRow(minute)));
}

function printed(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(Math.max(SOAK_COLUMNS[i]?.right.length ?? 0, CELL_MIN))).join('  ');
}

/** Sentences that compare the end of a soak with its first tenth. Empty if the soak was shorter than a minute. */
export function soakSentences(minutes: readonly Minute[]): string[] {
  const last = minutes.at(-1);
  if (last === undefined) return [];
  const early = minutes.find(({ answers }) => answers >= last.answers / 10) ?? last;
  const worst = minutes.reduce((a, b) => (b.p99Ms > a.p99Ms ? b : a));
  const longestMs = Math.max(...minutes.map((minute) => minute.longestMs));
  const times = (pick: (minute: Minute) => number) => (pick(last) / pick(early)).toFixed(2);
  const inVain = ((last.lookedInVain / last.answers) * 100).toFixed(3);
  return [
    `memory after ${last.answers} callbacks, against after ${early.answers}: ${times((minute) => minute.ownBytes)} times ` +
      `(${mb(early.ownBytes)} and ${mb(last.ownBytes)} MB of its own; resident ${times((minute) => minute.residentBytes)} times)`,
    `memory for each name of a round or transaction in the archive: ${perName(last)} bytes (${last.names} names)`,
    `callbacks that waited for the archive, which had nothing: ${inVain} %`,
    `p99 of the worst minute: ${worst.p99Ms.toFixed(1)} ms (minute ${worst.minute}); longest answer: ${longestMs.toFixed(0)} ms`,
  ];
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function perName({ names, namesBytes }: Minute): string {
  return (namesBytes / Math.max(names, 1)).toFixed(2);
}

export const SOAK_COLUMNS = [
  { right: 'minute' },
  { right: 'answers' },
  { right: 'p50 ms' },
  { right: 'p99 ms' },
  { right: 'longest ms' },
  { right: 'resident MB' },
  { right: 'own MB' },
  { right: 'heap MB' },
  { right: 'records MB' },
  { right: 'in memory' },
  { right: 'in the archive' },
  { right: 'bytes a name' },
] as const;

export function soakRow(minute: Minute): string[] {
  const { answers, p50Ms, p99Ms, longestMs, residentBytes, ownBytes, heapBytes, recordBytes, names } = minute;
  return [
    String(minute.minute),
    String(answers),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    longestMs.toFixed(0),
    mb(residentBytes),
    mb(ownBytes),
    mb(heapBytes),
    mb(recordBytes),
    String(minute.transactions),
    String(names),
    perName(minute),
  ];
}
