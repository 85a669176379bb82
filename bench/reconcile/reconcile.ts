import { tmpdir } from 'node:os';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { must } from '../../src/base/assert.js';
import { formatBytes } from '../../src/cli/print/format.js';
import { formatTable } from '../../src/cli/print/table.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { DEFAULT_COLUMNS } from '../../src/tools/reconcile/columns.js';
import { reconcile } from '../../src/tools/reconcile/reconcile.js';
import { Window } from '../../src/tools/reconcile/window.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { apply } from '../../src/wallet/apply.js';
import { decide } from '../../src/wallet/decide/decide.js';
import { serializeRound } from '../../src/wallet/state/serialized-round.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { settingsWith } from '../../test/support/settings.js';

export interface ReconcileSettings {
  readonly records: number;
}

const STORE_ID = '00000000-0000-4000-8000-000000000001';
const BATCH = 1000;
const PLAYERS = 10_000;
const NOW_MS = Date.UTC(2026, 0, 1);
const STAKE_UNITS = 105_000;
const PAYOUT_UNITS = 252_500;
const SAMPLE_MS = 200;

/**
 * Reconciles a history with an archive that matches it. The archive lists rounds player by player; the history has a
 * different order. Both sides are generated on the fly from copies of one record with different numbers, so that nearly
 * all of the measured time is spent on the comparison. No archive is read from disk.
 */
export async function runReconcile({ records }: ReconcileSettings): Promise<void> {
  let peakBytes = 0;
  const sampler = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const startedMs = performance.now();
  const { counts } = await reconcile(historyOf(records), readerOf(records), {
    columns: DEFAULT_COLUMNS,
    window: new Window(undefined, undefined),
    folder: tmpdir(),
    onDifferences: async () => {},
  });
  clearInterval(sampler);
  const seconds = (performance.now() - startedMs) / 1000;
  const columns = ['reconcile', ...['records', 'the same', 'seconds', 'records/s', 'peak of resident memory']];
  const row = ['', counts.theirs, counts.equal, seconds.toFixed(1), Math.round(records / seconds)].map(String);
  console.log(
    formatTable(
      columns.map((right) => ({ right })),
      [[...row, formatBytes(peakBytes)]],
    ),
  );
}

/** Number of digits in each name, so that only digits must change to turn one record into another. */
const DIGITS = 8;
const UNNUMBERED = '#'.repeat(DIGITS);
const digitsOf = (n: number) => String(n).padStart(DIGITS, '0');
const playerOf = (n: number) => `player-${digitsOf(n % PLAYERS)}`;

async function* historyOf(records: number): AsyncGenerator<Buffer, void> {
  const names = { id: 'id-', betId: 'bet-', username: 'player-', roundId: 'round-' };
  const [begin, afterId, afterBet, afterPlayer, end] = JSON.stringify({
    ...Object.fromEntries(Object.entries(names).map(([field, name]) => [field, name + UNNUMBERED])),
    ...{ currency: 'THB', productId: 'SLOTS', stake: 10.5, payout: 25.25, betStatus: 'SETTLED' },
    ...{ gameCode: 'game', gameName: 'A game', accountingDate: '2026-01-01T00:00:00.000Z' },
    updatedDate: '2026-01-01T00:00:00.000Z',
  }).split(UNNUMBERED);
  for (let from = 0; from < records; from += BATCH) {
    let text = '';
    for (let n = from; n < Math.min(from + BATCH, records); n++) {
      const [own, player] = [digitsOf(n), digitsOf(n % PLAYERS)];
      text += `${begin}${own}${afterId}${own}${afterBet}${player}${afterPlayer}${own}${end}\n`;
    }
    yield Buffer.from(text);
  }
}

function readerOf(records: number): StoreReader {
  const format = new EntryCodec(STORE_ID);
  const recordOf = archive();
  return {
    ...{ storeId: STORE_ID, shards: 1, scales: new ScaleTable({ default: 4, byCurrency: {} }), format, yieldTurn },
    snapshotFormat: new SnapshotCodec(STORE_ID),
    wal: {
      head: async () => genesisHead(STORE_ID, 0),
      read: async (_, after) => (after.sequence === 0 ? [playersEntry(format)] : []),
    },
    snapshots: { snapshots: async () => [], readChunks: async () => [] },
    genesis: (shard) => genesisHead(STORE_ID, shard),
    shardOf: () => 0,
    archive: {
      days: async () => [0],
      find: async () => [],
      mark: async () => undefined,
      missingDays: async () => [],
      async *all() {
        for (let from = 0; from < records; from += BATCH) {
          yield Array.from({ length: Math.min(BATCH, records - from) }, (_, i) => recordOf(records - 1 - from - i));
        }
      },
    },
  };
}

/** Generates rounds as a shard would have archived them. */
function archive(): (n: number) => ArchiveRecord {
  const image = imageOf(`player-${UNNUMBERED}`, `round-${UNNUMBERED}`, `bet-${UNNUMBERED}`);
  const numberAfter = (name: string) => image.indexOf(name) + name.length;
  const [player, round, bet] = [numberAfter('player-'), numberAfter('round-'), numberAfter('bet-')];
  // Use 0 for the hashes, because reconciliation ignores them.
  const place = { shard: 0, day: 0, lsn: { epoch: 1, sequence: 1 }, index: 0, ids: [], player: 0, round: 0 };
  return (n) => {
    const copy = Buffer.from(image);
    copy.write(digitsOf(n % PLAYERS), player, 'latin1');
    copy.write(digitsOf(n), round, 'latin1');
    copy.write(digitsOf(n), bet, 'latin1');
    return { ...place, image: copy };
  };
}

function imageOf(username: string, roundId: string, id: string): Buffer {
  const wallets = new Wallets();
  const rules = rulesOf(settingsWith());
  const [productId, currency] = ['SLOTS', 'THB'];
  const command = { type: 'import-player', id: 'open', username, currency, balance: STAKE_UNITS } as const;
  apply(wallets, must(decide(undefined, command, rules, NOW_MS).event, 'a player is created'));
  const wallet = must(wallets.get(username), 'a player is created');
  const txn = { id, roundId, betAmount: STAKE_UNITS, payoutAmount: PAYOUT_UNITS, turnOver: 0, byRound: false };
  const flags = { isSingleState: true, isEndRound: false, isFeature: false, isFeatureBuy: false };
  const game = { gameCode: 'g', playInfo: 'p', skipBalanceUpdate: false };
  const envelope = { id: 'request', timestampMillis: NOW_MS, productId, currency, username };
  const settled = { type: 'settleBets', ...envelope, txns: [{ ...txn, ...flags, ...game }] } as const;
  apply(wallets, must(decide(wallet, settled, rules, NOW_MS).event, 'a bet is settled'));
  return serializeRound(wallet, must(wallet.round(productId, roundId), 'a bet has its round'));
}

/** The only entry of the log, which creates all players. */
function playersEntry(format: EntryCodec): Buffer {
  const rules = rulesOf(settingsWith());
  const batch = format.beginBatch(NOW_MS);
  for (let n = 0; n < PLAYERS; n++) {
    const command = { type: 'import-player', id: 'open', username: playerOf(n), currency: 'THB', balance: 0 } as const;
    const { event } = decide(undefined, command, rules, NOW_MS);
    if (event !== undefined) batch.add(event);
  }
  const previous = genesisHead(STORE_ID, 0);
  return batch.seal({ shard: 0, lsn: { epoch: 0, sequence: 1 }, nonce: previous.nonce, previous }).bytes;
}
