import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { atOnce } from '../../src/base/steps.js';
import type { Manifest } from '../../src/ports/snapshot-store.js';
import { FormatGate } from '../../src/store/format/format-gate.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { apply } from '../../src/wallet/apply.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { auditTables } from '../support/audit.js';
import { describeWallet } from './describe-wallet.js';
import { readHistories, type StoredHistory } from './stored-history.js';
import { formatSnapshots, formatsOf, readSnapshots, type StoredShard, snapshotsFileOf } from './stored-snapshots.js';

/*
 * Snapshots that versions of walletd wrote from the wallets that the logs next to them produce. The files must remain
 * readable forever. Each file is written once: REWRITE=1 creates missing files.
 */
const CHUNK_BYTES_MAX = 1000;
const FORMAT_OF_TODAY = 5;
/** Older formats, each with the store format up to which all nodes can read while it is written. */
const FORMER_FORMATS = [
  { format: 2, storeFormat: 1 },
  { format: 3, storeFormat: 2 },
  { format: 4, storeFormat: 3 },
] as const;

const histories = readHistories();

if (process.env.REWRITE === '1') {
  for (const history of histories) {
    const file = snapshotsFileOf(history, FORMAT_OF_TODAY);
    if (!existsSync(file)) writeFileSync(file, formatSnapshots(written(history)));
  }
}

for (const history of histories) {
  test(`${history.name}: the history has snapshots in today's format`, () => {
    assert.ok(formatsOf(history).includes(FORMAT_OF_TODAY), 'REWRITE=1 writes them');
  });

  for (const format of formatsOf(history)) {
    test(`${history.name}: snapshots of format ${format} contain the original wallets`, () => {
      const codec = new SnapshotCodec(history.meta.storeId);
      const lines = readSnapshots(history, format).flatMap(({ manifest, chunks }) => {
        const opened = codec.openManifest(manifest);
        const reader = codec.beginReading(opened);
        for (const chunk of chunks) atOnce(reader.addChunk(chunk));
        const wallets = reader.finish();
        for (const wallet of wallets) checkWallet(wallet);
        auditTables(wallets);
        return [...wallets].flatMap((wallet) => [`shard ${opened.shard}`, ...describeWallet(wallet), '']);
      });
      assertSameLines(lines.join('\n'), history.expected);
    });
  }
}

for (const history of histories) {
  test(`${history.name}: decoding and encoding a snapshot returns the same bytes`, () => {
    const file = snapshotsFileOf(history, FORMAT_OF_TODAY);
    assertSameLines(formatSnapshots(written(history)), readFileSync(file, 'utf8'));
  });
}

/** walletd writes an older format while a node in the cluster cannot read a newer one. */
for (const { format, storeFormat } of FORMER_FORMATS) {
  for (const history of histories.filter((one) => formatsOf(one).includes(format))) {
    test(`${history.name}: an older node can read snapshots of format ${format}`, () => {
      const file = snapshotsFileOf(history, format);
      assertSameLines(formatSnapshots(written(history, new FormatGate(storeFormat))), readFileSync(file, 'utf8'));
    });
  }
}

test('a thread that has read a snapshot may write its format', () => {
  for (const history of histories) {
    const gate = new FormatGate(1);
    const codec = new SnapshotCodec(history.meta.storeId, gate);
    for (const format of [1, 2, 3]) {
      for (const { manifest } of written(history, new FormatGate(format))) codec.openManifest(manifest);
      assert.deepEqual([gate.allows(format), gate.allows(format + 1)], [true, false]);
    }
  }
});

function written({ meta, logs }: StoredHistory, gate = new FormatGate()): StoredShard[] {
  const codec = new SnapshotCodec(meta.storeId, gate);
  return logs.map(({ shard, genesis, head, entries }) => {
    const wallets = new Wallets();
    for (const { entry } of entries) for (const event of entry.events) apply(wallets, event);
    const id = `00000000000000${shard}${shard}`;
    const sealed: { bytes: Buffer; summary: Manifest['chunks'][number] }[] = [];
    let chunk = codec.beginChunk(shard, id, 0);
    for (const wallet of wallets) {
      if (chunk.byteLength > CHUNK_BYTES_MAX) {
        sealed.push(chunk.seal());
        chunk = codec.beginChunk(shard, id, sealed.length);
      }
      atOnce(chunk.add(wallet));
    }
    sealed.push(chunk.seal());
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
    const manifest = codec.sealManifest({
      id,
      shard,
      start: head,
      end: head,
      timeMs: entries.at(-1)?.entry.timeMs ?? 0,
      players: wallets.count,
      chunks: sealed.map(({ summary }) => summary),
      marks: [
        { lsn: genesis.lsn, bytes: 0 },
        { lsn: head.lsn, bytes },
      ],
    });
    return { manifest, chunks: sealed.map((one) => one.bytes) };
  });
}
