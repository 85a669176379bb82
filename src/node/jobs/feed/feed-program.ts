import { randomBytes } from 'node:crypto';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../base/message-of.js';
import type { FeedAnswer, FeedRequest } from '../../../feed/request.js';
import { Feeds } from '../../../tools/feed/feeds.js';
import type { StoreSettings } from '../../drivers/driver.js';
import { driverOf } from '../../drivers/drivers.js';
import { drawHashKey } from '../../settings/draw-hash-key.js';
import { readerOf } from '../../settings/reader-of.js';

/** Messages to the program. The first one is `open`. */
export type ToFeedProgram =
  | { readonly type: 'open'; readonly settings: StoreSettings }
  | { readonly type: 'request'; readonly id: number; readonly request: FeedRequest }
  /** Ends the wait of a read, which is then answered at once. */
  | { readonly type: 'hurry'; readonly id: number };

/** The answer of the program to the request with this id. */
export interface FromFeedProgram {
  readonly id: number;
  readonly answer: FeedAnswer;
}

/** Time limit for the exit after the channel has closed, in case an unresponsive store keeps the process alive. */
const END_MS = 2000;
/** Lower priority than the shards, which come first. */
const NICE = 10;
const ID_BYTES = 8;

/**
 * Main program of the process that `FeedProcess` starts. Opens the store, answers requests about the event feed and
 * exits when its channel closes. No callback ever waits for this process.
 */
setPriority(NICE);
drawHashKey();
const waits = new Map<number, AbortController>();
let feeds: Promise<Feeds>;
process.on('disconnect', () => {
  for (const wait of waits.values()) wait.abort();
  setTimeout(() => process.exit(0), END_MS).unref();
  void close().finally(() => process.exit(0));
});
// An answer cannot be sent once the channel has closed, so ignore this error.
process.on('error', () => {});
process.on('message', (message: ToFeedProgram) => {
  if (message.type === 'open') feeds = open(message.settings);
  else if (message.type === 'hurry') waits.get(message.id)?.abort();
  else void answer(message.id, message.request);
});
// The parent may already have exited.
if (!process.connected) process.exit(1);

let close = async (): Promise<void> => {};

async function open(settings: StoreSettings): Promise<Feeds> {
  const store = await driverOf(settings).openAgain(() => process.exit(1));
  close = () => store.close();
  const meta = await store.meta.tryRead();
  if (meta === undefined) throw new Error('there is no store');
  return new Feeds({
    reader: readerOf(store, meta),
    records: store.feeds,
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    newId: () => randomBytes(ID_BYTES).toString('hex'),
    pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
  });
}

async function answer(id: number, request: FeedRequest): Promise<void> {
  const wait = new AbortController();
  waits.set(id, wait);
  const send = (answered: FeedAnswer) => {
    waits.delete(id);
    const message: FromFeedProgram = { id, answer: answered };
    if (process.connected) process.send?.(message);
  };
  try {
    send(await (await feeds).answer(request, wait.signal));
  } catch (error) {
    // The store could not be opened. The next request starts a new process.
    send({ type: 'failed', reason: messageOf(error) });
    process.disconnect?.();
  }
}
