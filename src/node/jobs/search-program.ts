import { setPriority } from 'node:os';
import type { SearchLine, StoreQuery } from '../../admin/store-searcher.js';
import { messageOf } from '../../base/message-of.js';
import type { OnProgress } from '../../base/progress.js';
import { formatLsn } from '../../ports/lsn.js';
import { eventsOf, findInArchive, findInLog } from '../../tools/inspect/find-in-store.js';
import type { StoreReader } from '../../tools/store-reader.js';
import { openExisting } from '../drivers/open-store.js';
import { drawHashKey } from '../settings/draw-hash-key.js';
import { readerOf } from '../settings/reader-of.js';
import type { SearchJob } from './store-searches.js';

/** Interval between two progress messages. */
const PROGRESS_MS = 500;
/** Time limit for the exit after the channel has closed, in case an unresponsive store keeps the process alive. */
const END_MS = 2000;
/** Lower priority than the shards, which come first. */
const NICE = 10;

/**
 * Main program of the process that `StoreSearches` starts. Reads a store, reports over its channel and exits when the
 * channel closes.
 */
drawHashKey();
let isWanted = true;
process.on('disconnect', () => {
  isWanted = false;
  setTimeout(() => process.exit(1), END_MS).unref();
});
// A line cannot be sent once the channel has closed, so ignore this error.
process.on('error', () => {});
process.once('message', (job: SearchJob) => void run(job));
// The parent may already have exited.
if (!process.connected) process.exit(1);

async function run({ settings, query }: SearchJob): Promise<void> {
  let done = 0;
  const timer = setInterval(() => send({ type: 'progress', done }), PROGRESS_MS);
  const end = await search(settings, query, (share) => {
    done = share;
  }).catch((error: unknown): SearchLine => ({ type: 'failed', reason: messageOf(error) }));
  clearInterval(timer);
  if (process.connected) process.send?.(end, () => process.exit());
  else process.exit();
}

async function search(
  settings: SearchJob['settings'],
  query: StoreQuery,
  onShare: (share: number) => void,
): Promise<SearchLine> {
  // A search writes nothing, so skip the check of the store's durability configuration.
  const trusting = { ...settings, durability: 'fsync', redis: { ...settings.redis, trustConfig: true } };
  const { store, meta, archive } = await openExisting(trusting, 'read');
  // Lower the priority only after the store is open, because the checks made while opening it have a time limit of a
  // few seconds.
  setPriority(NICE);
  try {
    const reader = readerOf(store, meta, archive);
    return await hitsOf(wanted(reader), query, onShare);
  } finally {
    await archive?.close();
    await store.close();
  }
}

/** A reader that stops once the search has been canceled. */
function wanted(reader: StoreReader): StoreReader {
  return {
    ...reader,
    yieldTurn: async () => {
      await reader.yieldTurn();
      if (!isWanted) throw new Error('the search was ended');
    },
  };
}

async function hitsOf(reader: StoreReader, query: StoreQuery, onShare: (share: number) => void): Promise<SearchLine> {
  const notes: string[] = [];
  let hits = 0;
  for await (const line of linesOf(reader, query, notes, (done, total) => onShare(done / total))) {
    if (hits === query.hitsMax) return { type: 'end', isCut: true, notes };
    hits++;
    send(line);
  }
  return { type: 'end', isCut: false, notes };
}

async function* linesOf(
  reader: StoreReader,
  query: StoreQuery,
  notes: string[],
  onProgress: OnProgress,
): AsyncGenerator<SearchLine> {
  if (query.in === 'player') {
    const { username, fromVersion } = query;
    for await (const { event, entry } of eventsOf(reader, username, fromVersion, notes, onProgress)) {
      const isCallback = event.type === 'callback-applied';
      yield {
        type: 'event',
        version: event.version,
        what: isCallback ? event.changes.map(({ type }) => type) : [event.type],
        requestId: isCallback ? event.requestId : undefined,
        timeMs: event.timeMs,
        shard: entry.shard,
        lsn: formatLsn(entry.lsn),
      };
    }
    return;
  }
  const find = query.in === 'log' ? findInLog : findInArchive;
  for await (const { lsn, ...hit } of find(reader, query.id, notes, onProgress)) {
    yield { type: 'hit', hit: { ...hit, lsn: lsn && formatLsn(lsn) } };
  }
}

function send(line: SearchLine): void {
  if (process.connected) process.send?.(line);
}
