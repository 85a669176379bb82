import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SearchLine, StoreQuery, StoreSearch, StoreSearcher } from '../admin/store-searcher.js';
import { messageOf } from '../base/message-of.js';
import type { StoreSettings } from './drivers/driver.js';

const PROGRAM = fileURLToPath(new URL('./search-program.js', import.meta.url));
/** Small, because a search retains none of the data it reads. */
const HEAP_MIB = 256;
/** Time limit for closing the store, which an unresponsive store may exceed. */
const KILL_AFTER_MS = 3000;

/**
 * Message that starts the search. It is sent over the channel rather than as arguments, which other users of the
 * machine can see, because a store has a password.
 */
export interface SearchJob {
  readonly settings: StoreSettings;
  readonly query: StoreQuery;
}

/**
 * Searches the store in a separate process, so that a multi-gigabyte log takes no time from the shards. Only one search
 * runs at a time. The channel closes when the search is canceled, or when this process dies for any reason; the search
 * then ends.
 */
export class StoreSearches implements StoreSearcher {
  private readonly settings: StoreSettings;
  private running: StoreSearch | undefined = undefined;

  constructor(
    { store, storePrefix, durability, redis, archive, postgres }: StoreSettings,
    private readonly program = PROGRAM,
  ) {
    this.settings = { store, storePrefix, durability, redis, archive, postgres };
  }

  tryBegin(query: StoreQuery): StoreSearch | undefined {
    if (this.running !== undefined) return undefined;
    const child = fork(this.program, [], {
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // A channel error ends the search. Without a listener, it would crash this process.
      child.on('error', () => child.pid === undefined && resolve());
    }).then(() => {
      this.running = undefined;
    });
    // Subscribe before the first message can arrive.
    const messages = on(child, 'message', { close: ['disconnect'] }) as AsyncIterable<[SearchLine]>;
    const job: SearchJob = { settings: this.settings, query };
    child.send(job);
    const stop = () => end(child);
    const search: StoreSearch = { lines: linesOf(messages, stop, gone), stop };
    this.running = search;
    return search;
  }

  close(): void {
    this.running?.stop();
  }
}

function end(child: ChildProcess): void {
  if (!child.connected) return;
  child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref();
  child.once('exit', () => clearTimeout(timer));
}

async function* linesOf(
  messages: AsyncIterable<[SearchLine]>,
  stop: () => void,
  gone: Promise<void>,
): AsyncGenerator<SearchLine> {
  try {
    for await (const [line] of messages) {
      const isLast = line.type === 'end' || line.type === 'failed';
      if (isLast) {
        stop();
        // The caller may start the next search as soon as this one returns.
        await gone;
      }
      yield line;
      if (isLast) return;
    }
    yield { type: 'failed', reason: 'the search was ended' };
  } catch (error) {
    yield { type: 'failed', reason: `the search could not be started: ${messageOf(error)}` };
  }
}
