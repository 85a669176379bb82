import { tmpdir } from 'node:os';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { formatBytes } from '../../src/cli/print/format.js';
import { formatTable } from '../../src/cli/print/table.js';
import { rulesOf } from '../../src/node/rules.js';
import type { ArchiveRecord } from '../../src/shard/archive/archive.js';
import { hashOfName, hashOfPlayer } from '../../src/shard/archive/archive-hash.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { DEFAULT_COLUMNS } from '../../src/tools/reconcile/columns.js';
import { reconcile } from '../../src/tools/reconcile/reconcile.js';
import { Window } from '../../src/tools/reconcile/window.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { apply } from '../../src/wallet/apply.js';
import { decide } from '../../src/wallet/decide/decide.js';
import { imageOfRound } from '../../src/wallet/state/round-image.js';
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
const SAMPLE_MS = 200;

/**
 * A history against an archive that agrees with it: one player's rounds after the other's, in another order than the
 * history has them. Both sides are made on the way, which is part of what is measured; no archive is read from a disk.
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

const playerOf = (n: number) => `player-${String(n % PLAYERS).padStart(8, '0')}`;

async function* historyOf(records: number): AsyncGenerator<Buffer, void> {
  for (let from = 0; from < records; from += BATCH) {
    let text = '';
    for (let n = from; n < Math.min(from + BATCH, records); n++) {
      text += `${JSON.stringify({
        ...{ id: `record-${n}`, betId: `bet-${n}`, username: playerOf(n), currency: 'THB', productId: 'SLOTS' },
        ...{
          roundId: `round-${n}`,
          stake: 10.5,
          payout: 25.25,
          betStatus: 'SETTLED',
          gameCode: 'game',
          gameName: 'A game',
        },
        ...{ accountingDate: '2026-01-01T00:00:00.000Z', updatedDate: '2026-01-01T00:00:00.000Z' },
      })}\n`;
    }
    yield Buffer.from(text);
  }
}

function readerOf(records: number): StoreReader {
  const format = new EntryCodec(STORE_ID);
  const wallets = new Wallets();
  const rules = rulesOf(settingsWith());
  const chunk = new SnapshotCodec(STORE_ID);
  return {
    ...{ storeId: STORE_ID, shards: 1, scales: new ScaleTable({ default: 4, byCurrency: {} }), format, yieldTurn },
    snapshotFormat: chunk,
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
      async *all() {
        for (let from = 0; from < records; from += BATCH) {
          yield Array.from({ length: Math.min(BATCH, records - from) }, (_, i) => archivedOf(records - 1 - from - i));
        }
      },
    },
  };

  /** A round as a shard would have put it there. */
  function archivedOf(n: number): ArchiveRecord {
    const username = playerOf(n);
    const [productId, roundId] = ['SLOTS', `round-${n}`];
    if (wallets.get(username) === undefined) {
      const command = { type: 'import-player', id: 'open', username, currency: 'THB', balance: 1e12 } as const;
      const { event } = decide(undefined, command, rules, NOW_MS);
      if (event !== undefined) apply(wallets, event);
    }
    const wallet = wallets.get(username);
    if (wallet === undefined) throw new Error('a player is created');
    const txn = { id: `bet-${n}`, roundId, betAmount: STAKE_UNITS, payoutAmount: 252_500, turnOver: 0, byRound: false };
    const flags = { isSingleState: true, isEndRound: false, isFeature: false, isFeatureBuy: false };
    const game = { gameCode: 'g', playInfo: 'p', skipBalanceUpdate: false };
    const envelope = { id: `q-${n}`, timestampMillis: NOW_MS, productId, currency: 'THB', username };
    const { event } = decide(
      wallet,
      { type: 'settleBets', ...envelope, txns: [{ ...txn, ...flags, ...game }] },
      rules,
      NOW_MS,
    );
    if (event !== undefined) apply(wallets, event);
    const round = wallet.round(productId, roundId);
    if (round === undefined) throw new Error('a bet has its round');
    const image = imageOfRound(wallet, round);
    wallet.dropRound(round);
    const place = { shard: 0, day: 0, lsn: { epoch: 1, sequence: 1 }, index: 0, ids: [] };
    return { ...place, player: hashOfPlayer(username), round: hashOfName(productId, roundId), image };
  }
}

/** The one entry of the log: all players come. */
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
