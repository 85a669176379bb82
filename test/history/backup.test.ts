import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { rebuild } from '../../src/log/recovery.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { checkBackup, framesOfFile } from '../../src/tools/backup/backup-reader.js';
import { BackupWriter } from '../../src/tools/backup/backup-writer.js';
import type { Coverage } from '../../src/tools/coverage.js';
import type { Frame } from '../../src/tools/frame.js';
import { restoreFrames } from '../../src/tools/restore/restore.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { MemoryWal } from '../support/memory-wal.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { targetOf } from '../tools/recorded-store.js';
import { describeWallet } from './describe-wallet.js';
import { recoveryDeps } from './store-writer.js';
import { HISTORY_FOLDER, readHistories, type StoredHistory } from './stored-history.js';
import { formatsOf, readSnapshots, type StoredShard } from './stored-snapshots.js';

/*
 * Backup files that versions of walletd wrote from the logs and snapshots next to them. The files must remain
 * restorable forever. Each file is written once: REWRITE=1 creates missing files.
 */
const LINE_BYTES = 60;

const fileOf = ({ name }: StoredHistory) => new URL(`${name}/backup.txt`, HISTORY_FOLDER);
const histories = readHistories();

if (process.env.REWRITE === '1') {
  for (const history of histories) {
    if (!existsSync(fileOf(history))) writeFileSync(fileOf(history), format(await written(history)));
  }
}

for (const history of histories) {
  test(`${history.name}: the backup restores the original wallets`, async () => {
    await inFile(async (path) => {
      writeFileSync(path, Buffer.from(readFileSync(fileOf(history), 'utf8').replaceAll('\n', ''), 'hex'));
      const whole = await checkBackup(path);
      assert.deepEqual([whole.segments, whole.cutBytes], [2, 0]);
      const { storeId, shards } = history.meta;
      const wal = new MemoryWal(storeId, shards);
      const deps = recoveryDeps(wal, history.codec, { host: 'test', pid: 1, startedMs: 0 });
      await restoreFrames(framesOfFile(path, whole), targetOf(wal), { openFormats, retryPolicy: deps });
      const lines: string[] = [];
      for (const { shard, genesis, head } of history.logs) {
        const { wallets } = await rebuild({ shard, genesis, found: head, target: head }, deps);
        for (const wallet of wallets) lines.push(`shard ${shard}`, ...describeWallet(wallet), '');
      }
      assertSameLines(lines.join('\n'), history.expected);
    });
  });
}

/** Creates a backup file with every type of frame, in two segments. */
async function written(history: StoredHistory): Promise<Buffer> {
  const frames = framesOf(history, readSnapshots(history, formatsOf(history)[0] ?? 1));
  let bytes = Buffer.alloc(0);
  await inFile(async (path) => {
    const writer = await BackupWriter.create(path);
    for (const frame of frames) await (frame.type === 'end' ? writer.endSegment(frame) : writer.add(frame));
    await writer.close();
    bytes = readFileSync(path);
  });
  return bytes;
}

/**
 * Frames of a backup. The first shard has a snapshot, which is read at the second attempt. The other shards have their
 * whole logs, with some entries in a later segment.
 */
function framesOf({ bytes, logs, meta }: StoredHistory, snapshots: readonly StoredShard[]): Frame[] {
  const [first, ...others] = logs;
  const [snapshot] = snapshots;
  assert.ok(first !== undefined && snapshot !== undefined);
  const begun: Frame[] = [
    { type: 'snapshot-begun', shard: 0, manifest: snapshot.manifest },
    ...snapshot.chunks.map((chunk, index): Frame => ({ type: 'chunk', shard: 0, index, bytes: chunk })),
  ];
  const newest = first.entries.at(-1);
  assert.ok(newest);
  const entryFrames = (from: number, to?: number) =>
    others.flatMap(({ shard, entries }) =>
      entries.slice(from, to).map(({ bytes }): Frame => ({ type: 'entry', shard, bytes })),
    );
  const place = { end: first.head.lsn, timeMs: newest.entry.timeMs };
  const end = (count?: number): Frame => {
    const coverage: Coverage = {
      timeMs: meta.createdMs + (count ?? 1000),
      shards: [
        { head: first.head, snapshot: place },
        ...others.map(({ entries }) => ({
          head: entries.slice(0, count).at(-1)?.entry.head ?? assert.fail(),
          snapshot: undefined,
        })),
      ],
    };
    return { type: 'end', coverage };
  };
  return [
    { type: 'meta', bytes: bytes.meta },
    ...begun,
    { type: 'snapshot-abandoned', shard: 0 },
    ...begun,
    { type: 'entry', shard: 0, bytes: newest.bytes },
    ...entryFrames(0, 4),
    end(4),
    ...entryFrames(4),
    end(),
  ];
}

function format(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) lines.push(bytes.toString('hex', at, at + LINE_BYTES));
  return `${lines.join('\n')}\n`;
}

async function inFile(run: (path: string) => Promise<void>): Promise<void> {
  const folder = makeTempFolder();
  try {
    await run(`${folder.path}/backup`);
  } finally {
    folder.remove();
  }
}
