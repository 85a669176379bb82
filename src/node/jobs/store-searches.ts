import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SearchLine, StoreQuery, StoreSearch, StoreSearcher } from '../../admin/store-searcher.js';
import { messageOf } from '../../base/message-of.js';
import type { StoreSettings } from '../drivers/driver.js';

const PROGRAM = fileURLToPath(new URL('./search-program.js', import.meta.url));
/** Heap size of the search process. It can be small, because a search keeps none of the data that it reads. */
const HEAP_MIB = 256;
/** Time limit after which the search process is killed, because closing an unresponsive store could take longer. */
const KILL_AFTER_MS = 3000;

/**
 * The message that starts a search. Because a store has a password, it is sent over the channel; command-line arguments
 * are visible to other users of the machine.
 */
export interface SearchJob {
  readonly settings: StoreSettings;
  readonly query: StoreQuery;
}

/**
 * Searches the store in a separate process, so that reading a log of several gigabytes takes no time from the shards.
 * Only one search runs at a time. When the search is canceled, or this process dies for any reason, the channel closes,
 * and the search process ends.
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
      // An error of the channel must end the search. Without this listener, it would crash this process.
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
        // Wait for the end of the process, because the caller may start the next search as soon as this one returns.
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
