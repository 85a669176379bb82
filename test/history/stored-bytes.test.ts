import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Packr } from 'msgpackr';
import { KeyFilter } from '../../src/archive/key-filter.js';
import { silentLogger } from '../../src/base/logger.js';
import { isKnownMessage } from '../../src/cluster/known-messages.js';
import { SignedOutRecord } from '../../src/node/folder/signed-out-record.js';
import { TimeRecord } from '../../src/node/folder/time-record.js';
import { WIRE } from '../../src/peer/encrypted-handshake.js';
import { ARCHIVE_VERSION, type ArchiveRecord } from '../../src/ports/archive.js';
import type { MemberRecord, Plan } from '../../src/ports/table.js';
import { encodeFreshKeys, encodeKeys } from '../../src/store/format/archive-keys.js';
import { encodeRecord } from '../../src/store/format/archive-record.js';
import { encodeHead, FORMAT_VERSION } from '../../src/store/format/entry-codec.js';
import { STORE_FORMAT } from '../../src/store/format/format-gate.js';
import { openKeyFile, sealHeader, sealSection } from '../../src/store/format/key-file.js';
import { NodeRecord } from '../../src/store/node-record.js';
import { APPEND, CLUSTER, META, SNAPSHOT } from '../../src/store/redis/functions.js';
import { BACKUP_VERSION, sealFileHeader } from '../../src/tools/backup/backup-format.js';
import { sealFrame } from '../../src/tools/backup/frame-codec.js';
import type { Frame } from '../../src/tools/frame.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { LINK_MESSAGES } from './link-messages.js';
import { HISTORY_FOLDER } from './stored-history.js';

/*
 * Bytes of all data that outlives a process or is sent to another node, except for entries and snapshots
 * (history.test.ts, snapshots.test.ts). Messages between threads are not included, because all threads of a process run
 * the same release.
 *
 * stored-bytes.txt has one line for each kind and format number. REWRITE=1 adds missing lines and never changes one: if
 * a test here fails, the bytes of a released format have changed, and need a new number.
 */
const FILE = new URL('stored-bytes.txt', HISTORY_FOLDER);
const NODE_FILE_FORMAT = 1;
const STORE_ID = '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6';
const STORE = 'lmdb:/data';
const HEAD = { lsn: { epoch: 3, sequence: 2 ** 40 + 7 }, nonce: '0123456789abcdef', checksum: 0x9b1deb4d };
const BYTES = Buffer.from('0102030405', 'hex');
const RECORD: ArchiveRecord = {
  ...{ shard: 3, day: 20_000, player: 0xf862164e, round: 9, lsn: HEAD.lsn, index: 5 },
  ...{ ids: [{ id: 0xffffffff, version: 2 }], image: BYTES },
};

const FRAMES: { readonly [Type in Frame['type']]: Extract<Frame, { readonly type: Type }> } = {
  meta: { type: 'meta', bytes: BYTES },
  'snapshot-begun': { type: 'snapshot-begun', shard: 3, manifest: BYTES },
  chunk: { type: 'chunk', shard: 3, index: 7, bytes: BYTES },
  'snapshot-abandoned': { type: 'snapshot-abandoned', shard: 3 },
  entry: { type: 'entry', shard: 3, bytes: BYTES },
  end: {
    type: 'end',
    coverage: {
      timeMs: 1_700_000_000_000,
      shards: [
        {
          head: HEAD,
          snapshot: { end: HEAD.lsn, timeMs: 1_700_000_000_000 },
          archived: { epoch: 3, sequence: 12, index: 0 },
        },
        { head: HEAD, snapshot: undefined },
      ],
    },
  },
  archived: { type: 'archived', record: RECORD },
};

/** Types of the durability peers:1, which members of release 0.2.0 may still send. */
const REMOVED_LINK_MESSAGES: readonly string[] = ['copy', 'copied', 'seal', 'sealed', 'unseal', 'known'];

/** The record has `holdsCopies`, as release 0.2.0 wrote it. Later releases ignore this field. */
const MEMBER: MemberRecord = {
  ...{ name: 'node-1', host: '10.0.0.1', port: 4201, zone: 'a', version: '0.2.0', format: STORE_FORMAT },
  ...{ rulesHash: 'ab', holdsCopies: true, isLeaving: false, isFull: false, hasRoom: true, isTimeWrong: false },
  ...{ retentionMs: 1, archiveId: null, unreachable: ['0123abcd'] },
};
const PLAN: Plan = {
  ...{ owners: ['0123abcd', ''], followers: [[], ['0123abcd']], pinned: [1], format: STORE_FORMAT },
  ...{ archiveId: STORE_ID, why: 'a member joined', by: 'node-1' },
};

const folder = makeTempFolder();
after(() => folder.remove());

function fileOf(prefix: string): string {
  const name = readdirSync(folder.path).find((one) => one.startsWith(prefix));
  return readFileSync(join(folder.path, String(name)), 'utf8');
}

function keyFile(): Buffer {
  const header = sealHeader({ storeId: STORE_ID, shard: 3, head: HEAD }, [7]);
  const bytes = Buffer.concat([header.bytes, sealSection(header, 7, BYTES), BYTES]);
  assert.equal(openKeyFile(bytes, STORE_ID, 3).parts.size, 1);
  return bytes;
}

async function nodeFiles(): Promise<Readonly<Record<string, string>>> {
  await NodeRecord.open(folder.path, STORE).write(STORE_ID, [[3, HEAD]], 1_700_000_000_000);
  TimeRecord.read(folder.path, STORE).write(1_700_000_000_000);
  const signedOut = [{ name: 'eve', untilMs: 1_700_000_000_000, sessions: [['a', 1_700_000_000_000]] as const }];
  new SignedOutRecord(folder.path, STORE, silentLogger).write(signedOut);
  return Object.fromEntries(['acknowledged-', 'time-', 'signed-out-'].map((name) => [name, fileOf(name)]));
}

/**
 * Nodes of several releases call a function by its name, which contains its version number. The comments in a function
 * may change.
 */
function redisFunction({ name, library }: typeof APPEND): readonly [kind: string, numbered: readonly [number, string]] {
  const [, kind = '', number = ''] = /^(.*)_(\d+)$/.exec(name) ?? [];
  const lines = library.split('\n').map((line) => line.replace(/--.*/, '').trim());
  const digest = createHash('sha256').update(lines.filter((line) => line !== '').join('\n'));
  return [`redis-function-${kind}`, [Number(number), digest.digest('hex')]];
}

const packr = new Packr({ useRecords: false, moreTypes: true });
const files = await nodeFiles();
const filter = new KeyFilter(90, { low: 1, high: -2 }, () => {});
filter.add(20_000, 1, 'round', 2);

const { calls, ...others } = LINK_MESSAGES;
// Earlier nodes send `calls` without `areSigned`, which a reader must not require.
const { areSigned, ...callbacks } = calls.callbacks;

/** Each kind with its format number and its bytes, or the text of a JSON file. */
const KINDS: Readonly<Record<string, readonly [format: number, bytes: Buffer | string]>> = {
  head: [FORMAT_VERSION, encodeHead(HEAD)],
  'archived-round': [ARCHIVE_VERSION, encodeRecord(RECORD)],
  'saved-keys': [ARCHIVE_VERSION, encodeKeys(BYTES)],
  'fresh-keys': [ARCHIVE_VERSION, encodeFreshKeys([RECORD])],
  'key-filter': [4, [...filter.unsaved().values()][0] ?? ''],
  'key-filter-file': [NODE_FILE_FORMAT, keyFile()],
  'acknowledged-entries': [NODE_FILE_FORMAT, files['acknowledged-'] ?? ''],
  'confirmed-time': [NODE_FILE_FORMAT, files['time-'] ?? ''],
  'signed-out-sessions': [NODE_FILE_FORMAT, files['signed-out-'] ?? ''],
  'backup-header': [BACKUP_VERSION, sealFileHeader()],
  ...Object.fromEntries(
    Object.values(FRAMES).map((frame) => [`frame-${frame.type}`, [BACKUP_VERSION, Buffer.concat(sealFrame(frame))]]),
  ),
  ...Object.fromEntries(Object.values(others).map((message) => [`link-${message.type}`, [WIRE, packr.pack(message)]])),
  'link-calls': [WIRE, packr.pack({ ...calls, callbacks })],
  'link-calls-signed': [WIRE, packr.pack(calls)],
  ...Object.fromEntries([APPEND, SNAPSHOT, CLUSTER, META].map(redisFunction)),
  'cluster-member': [STORE_FORMAT, JSON.stringify(MEMBER)],
  'cluster-plan': [STORE_FORMAT, JSON.stringify(PLAN)],
};

const stored = new Map(
  existsSync(FILE)
    ? Array.from(readFileSync(FILE, 'utf8').matchAll(/^(\S+ \d+) (.*)$/gm), ([, key = '', text = '']) => [key, text])
    : [],
);

for (const [kind, [format, bytes]] of Object.entries(KINDS)) {
  const key = `${kind} ${format}`;
  const text = typeof bytes === 'string' ? bytes : bytes.toString('hex');
  if (process.env.REWRITE === '1' && !stored.has(key)) appendFileSync(FILE, `${key} ${text}\n`);
  test(`${kind} is encoded to the bytes of format ${format}`, () => {
    assert.equal(text, stored.get(key) ?? (process.env.REWRITE === '1' ? text : 'REWRITE=1 writes its line'));
  });
}

test('every stored link message is known or has a removed type', () => {
  const links = [...stored].filter(([key]) => key.startsWith('link-') && key.endsWith(` ${WIRE}`));
  for (const [key, digits] of links) {
    const message = packr.unpack(Buffer.from(digits, 'hex')) as { readonly type: string };
    assert.notEqual(isKnownMessage(message), REMOVED_LINK_MESSAGES.includes(message.type), key);
  }
});
