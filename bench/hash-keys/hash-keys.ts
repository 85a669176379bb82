import { hashOfName, hashOfPlayer } from '../../src/archive/archive-hash.js';
import { KeyFilter } from '../../src/archive/key-filter.js';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { collidingRoundIds, collidingUsernames } from '../../test/support/colliding.js';
import { machine, median } from '../support/machine.js';

export interface KeysSettings {
  readonly rounds: number;
}

interface Case {
  readonly name: string;
  readonly computed: readonly string[];
  /** Inserts all keys into a new table and looks up each one. */
  readonly run: (keys: readonly string[]) => void;
}

const PLAYERS = 4000;
const ROUND_IDS = 200;
/**
 * Unkeyed, the computed round IDs hash to the last `SPACE` values below 2^31. Before hashes had a key, a table of such
 * IDs took 16 MB.
 */
const SPACE = 2 ** 16;
/** Duration of one round, which is long enough to make a single pause negligible. */
const ROUND_MS = 100;
const FINDS = 10;
/** Maximum cost of computed keys, as a multiple of the time for random ones. */
const RATIO_MAX = 1.5;
const COLUMNS: readonly Column[] = ['', ...['computed, ns/key', 'random, ns/key', 'ratio'].map((right) => ({ right }))];

/**
 * Compares hash tables on two kinds of keys: keys that an attacker computed for walletd's former unkeyed hashes, and
 * random keys of the same length. Both kinds alternate in this process. The result is the median for each kind.
 */
export async function runKeys({ rounds }: KeysSettings): Promise<void> {
  console.log(`${machine()}\n`);
  const rows = cases().map(({ name, computed, run }) => {
    const random = computed.map(randomLike);
    const times: { readonly computed: number[]; readonly random: number[] } = { computed: [], random: [] };
    for (let round = -1; round < rounds; round++) {
      // Alternate the kind that goes first. The first round is only a warm-up.
      for (const kind of round % 2 === 0 ? (['computed', 'random'] as const) : (['random', 'computed'] as const)) {
        const took = nsPerKey(kind === 'computed' ? computed : random, run);
        if (round >= 0) times[kind].push(took);
      }
    }
    const [ofComputed, ofRandom] = [median(times.computed), median(times.random)];
    const ratio = ofComputed / ofRandom;
    if (ratio > RATIO_MAX) process.exitCode = 1;
    return [name, ofComputed.toFixed(0), ofRandom.toFixed(0), ratio.toFixed(2)];
  });
  console.log(formatTable(COLUMNS, rows));
}

function cases(): Case[] {
  const player = hashOfPlayer('ann');
  return [
    {
      name: 'players whose hashes were equal',
      computed: collidingUsernames([1, 2, 3, 4, 5, 6], PLAYERS),
      run: createAndFind,
    },
    {
      name: 'players whose hashes began alike',
      computed: collidingUsernames([0xabcde001, 0xabcde002, 0xabcde003, 0xabcde004, 0xabcde005, 0xabcde006], 4097),
      run: createAndFind,
    },
    {
      name: 'archived rounds whose hashes met at the end of a table',
      computed: collidingRoundIds(player, 'P1', SPACE, ROUND_IDS),
      run: (roundIds) => {
        const names = new KeyFilter(120, { low: 1, high: 2 }, () => {});
        for (const roundId of roundIds) names.add(20_000, player, 'round', hashOfName('P1', roundId));
        for (let i = 0; i < FINDS; i++) {
          for (const roundId of roundIds) names.mayHave(player, 'round', hashOfName('P1', roundId));
        }
      },
    },
  ];
}

function createAndFind(usernames: readonly string[]): void {
  const wallets = new Wallets({ segmentRows: 4096, pageBytes: 64 * 1024 });
  for (const username of usernames) wallets.create(username, 'THB');
  for (let i = 0; i < FINDS; i++) for (const username of usernames) wallets.peek(username);
}

function nsPerKey(keys: readonly string[], run: Case['run']): number {
  let runs = 0;
  const startedMs = performance.now();
  let tookMs = 0;
  do {
    run(keys);
    runs++;
    tookMs = performance.now() - startedMs;
  } while (tookMs < ROUND_MS);
  return (tookMs * 1e6) / (runs * keys.length);
}

/** Random text of the same length and with the same in-memory representation. */
function randomLike(text: string): string {
  const isDotted = text.startsWith('.');
  let random = isDotted ? '.' : '';
  while (random.length < text.length) random += Math.floor(Math.random() * 36).toString(36);
  return random;
}
