import { must } from '../../src/base/assert.js';
import { formatBytes } from '../../src/cli/print/format.js';
import { formatTable } from '../../src/cli/print/table.js';
import { atEnd, withCleanUp } from '../../test/support/clean-up.js';
import { machine, median } from '../support/machine.js';
import { importPlayers, startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';
import { type Painted, paint, startChromium } from './paint.js';
import { type Searched, search } from './search.js';

export interface ConsoleSettings {
  readonly players: number;
  readonly rounds: number;
  /** The folder in which the store is created. */
  readonly folder: string;
}

const BALANCE = 100;
const NAME_DIGITS = 8;
const PAGES = 50;
const VIEWS = ['', 'players', 'money', 'products'];

/** Measures the console with many players: how long a search takes, and how long a browser takes to paint a view. */
export function runConsole({ players, rounds, folder }: ConsoleSettings): Promise<void> {
  return withCleanUp(async () => {
    console.log(machine());
    const store = await startStore({ store: 'lmdb', durability: 'fsync', folder });
    const adminUrl = must((await startWalletd(store, 0)).adminUrl, 'walletd has an operator API');
    const names = Array.from({ length: players }, (_, n) => nameOf(n));
    await importPlayers(adminUrl, names, BALANCE);
    console.log(`${players} players\n`);
    await measureSearches(adminUrl, players, rounds);
    await measurePages(adminUrl);
    await measureViews(adminUrl, rounds);
  });
}

const nameOf = (n: number) => `player-${String(n).padStart(NAME_DIGITS, '0')}`;

async function measureSearches(adminUrl: string, players: number, rounds: number): Promise<void> {
  const rows: string[][] = [];
  for (const [what, prefix] of [
    ['one of all', nameOf(players - 1)],
    ['a hundred of all', nameOf(players - 100).slice(0, -2)],
    ['many', 'player-'],
    ['nobody', 'nobody'],
  ] as const) {
    const all: Searched[] = [];
    for (let round = 0; round < rounds; round++) all.push(await search(adminUrl, prefix));
    const { requests, players: found } = must(all[0], 'there is a round');
    const times = all.map(({ ms }) => ms);
    rows.push([what, String(found), String(requests), millis(median(times)), millis(Math.max(...times))]);
  }
  print(['search', 'found', 'requests', 'ms', 'longest'], rows);
}

/** Measures one page after another, following the cursor from the first page. */
async function measurePages(adminUrl: string): Promise<void> {
  const pages: Searched[] = [];
  for (let after: string | null | undefined; pages.length < PAGES && after !== null; after = pages.at(-1)?.next) {
    pages.push(await search(adminUrl, '', after));
  }
  const [first, last] = [must(pages[0], 'there is a page'), must(pages.at(-1), 'there is a page')];
  print(
    ['page', 'players', 'bytes', 'ms'],
    [
      ['first', String(first.players), String(first.bytes), millis(first.ms)],
      [`number ${pages.length}`, String(last.players), String(last.bytes), millis(last.ms)],
    ],
  );
}

async function measureViews(adminUrl: string, rounds: number): Promise<void> {
  const browser = await startChromium();
  atEnd(() => browser.close());
  const rows: string[][] = [];
  for (const view of VIEWS) {
    const all: Painted[] = [];
    for (let round = 0; round < rounds; round++) all.push(await paint(browser, `${adminUrl}/console/${view}`));
    const of = (measure: (one: Painted) => number) => median(all.map(measure));
    rows.push([
      `/console/${view}`,
      millis(of(({ firstPaintMs }) => firstPaintMs)),
      millis(of(({ blockedMs }) => blockedMs)),
      formatBytes(of(({ bytes }) => bytes)),
      String(of(({ requests }) => requests)),
    ]);
  }
  print(['view, cold cache', 'first paint ms', 'blocked ms', 'transferred', 'requests'], rows);
}

const millis = (ms: number) => ms.toFixed(ms < 10 ? 1 : 0);

function print([first = '', ...others]: readonly string[], rows: string[][]): void {
  console.log(`${formatTable([first, ...others.map((right) => ({ right }))], rows)}\n`);
}
