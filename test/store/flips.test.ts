import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { fill, type Verdict } from './flipped-archive.js';

/** Number of flips. FLIPS=1000 SEED=2 in the environment tries more and different ones. */
const FLIPS = Number(process.env.FLIPS ?? 150);
const SEED = Number(process.env.SEED ?? 1);
const PAGE = 4096;
const READER = fileURLToPath(new URL('./flip-reader.js', import.meta.url));

/** Kinds of pages in LMDB's file, by the flags at byte 18 of a page. */
const KINDS: Readonly<Record<number, string>> = { 1: 'branch', 2: 'leaf', 4: 'overflow', 8: 'meta' };

const folder = makeTempFolder();
after(() => folder.remove());

interface Flip {
  readonly file: string;
  readonly kind: string;
  readonly at: number;
  readonly bit: number;
}

/** Random numbers that are determined by a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** Returns an offset within the used part of a page: its header with the node offsets, or its nodes. */
function usedAt(bytes: Buffer, page: number, kind: string, random: (below: number) => number): number {
  const start = page * PAGE;
  if (kind === 'meta') return start + random(200);
  if (kind === 'overflow') return start + random(PAGE);
  const [lower, upper] = [bytes.readUInt16LE(start + 20), bytes.readUInt16LE(start + 22)];
  const head = Math.min(lower, PAGE);
  return start + (random(3) === 0 ? random(head) : upper + random(Math.max(1, PAGE - upper)));
}

/** Returns the file without the preallocated zeros. */
function usedOf(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.subarray(end - PAGE, end).every((byte) => byte === 0)) end -= PAGE;
  return bytes.subarray(0, end);
}

/** Picks one bit of a page that is in use. Each kind of page is equally likely. */
function pick(files: ReadonlyMap<string, Buffer>, random: (below: number) => number): Flip {
  const names = [...files.keys()];
  // Day files are picked twice as often as other files.
  const days = names.filter((name) => /^\d/.test(name));
  const file = (random(3) < 2 ? days[random(days.length)] : names[random(names.length)]) as string;
  const bytes = files.get(file) as Buffer;
  const byKind = new Map<string, number[]>();
  for (let page = 0; page * PAGE < bytes.length; page++) {
    const kind = KINDS[bytes.readUInt16LE(page * PAGE + 18)];
    if (kind !== undefined) byKind.set(kind, [...(byKind.get(kind) ?? []), page]);
  }
  const kinds = [...byKind.keys()];
  const kind = kinds[random(kinds.length)] as string;
  const pages = byKind.get(kind) as number[];
  return { file, kind, at: usedAt(bytes, pages[random(pages.length)] as number, kind, random), bit: random(8) };
}

type Read = Verdict & { readonly refusedAtOpen?: string };

/** Lets the reader read the target. Resolves to undefined if the reader's process has ended. */
function askedOf(reader: ChildProcess, target: string): Promise<Read | undefined> {
  return new Promise((resolve) => {
    const settle = (read: Read | undefined) => {
      reader.removeAllListeners();
      resolve(read);
    };
    reader.once('message', (read) => settle(read as Read));
    reader.once('exit', () => settle(undefined));
    reader.send(target);
  });
}

function flipped(bytes: Buffer, { at, bit }: Flip): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] as number) ^ (1 << bit);
  return copy;
}

test('LMDB: no flipped bit makes an archived round look new', async (t) => {
  const source = join(folder.path, 'source');
  const archive = LmdbArchive.open(source, ARCHIVE_STORES[0]);
  const book = await fill(archive);
  await archive.close();
  const bookFile = join(folder.path, 'book.json');
  writeFileSync(bookFile, JSON.stringify(book));
  const names = readdirSync(source).filter((name) => !name.endsWith('-lock'));
  const files = new Map(
    names.filter((name) => name.endsWith('.mdb')).map((name) => [name, usedOf(readFileSync(join(source, name)))]),
  );
  assert.ok(files.size === 4, 'two days, names and marks');
  const random = randomOf(SEED);
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  let reader: ChildProcess | undefined;
  after(() => reader?.kill('SIGKILL'));
  const wrong: string[] = [];
  for (let n = -1; n < FLIPS; n++) {
    const flip = n < 0 ? undefined : pick(files, random);
    const target = join(folder.path, `flip${n}`);
    mkdirSync(target);
    copyFileSync(join(source, 'archive.json'), join(target, 'archive.json'));
    for (const [file, bytes] of files) {
      // Some rounds force a full read of the keys from the records.
      if (file === 'names.mdb' && n % 3 === 0) continue;
      writeFileSync(join(target, file), file === flip?.file ? flipped(bytes, flip) : bytes);
    }
    reader ??= fork(READER, [bookFile], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const verdict = await askedOf(reader, target);
    if (verdict === undefined) {
      count(`${flip?.kind}: the process ended (${reader.signalCode})`);
      reader = undefined;
    } else if (verdict.refusedAtOpen !== undefined) {
      count(`${flip?.kind}: refused at open`);
    } else {
      if (flip === undefined) assert.deepEqual([verdict.right, verdict.wrong], [book.archived.length, []]);
      if (verdict.wrong.length > 0) wrong.push(`${JSON.stringify(flip)}: ${verdict.wrong.length}, ${verdict.wrong[0]}`);
      count(
        `${flip?.kind}: ${verdict.wrong.length > 0 ? 'WRONG' : verdict.refused > 0 ? 'some refused' : 'all right'}`,
      );
    }
    rmSync(target, { recursive: true });
  }
  reader?.kill('SIGKILL');
  t.diagnostic(JSON.stringify(counts, Object.keys(counts).sort()));
  assert.deepEqual(wrong, [], `of ${FLIPS} flips with seed ${SEED}`);
});
