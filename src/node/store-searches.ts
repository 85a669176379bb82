import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SearchLine, StoreQuery, StoreSearch, StoreSearcher } from '../admin/store-searcher.js';
import { messageOf } from '../base/message-of.js';
import type { StoreSettings } from './drivers/driver.js';

const PROGRAM = fileURLToPath(new URL('./search-program.js', import.meta.url));
/** It keeps nothing of what it reads. */
const HEAP_MIB = 256;
/** By then it has closed the store, if the store lets it. */
const KILL_AFTER_MS = 3000;

/** What the program is told, over its channel: arguments can be seen by other users of the machine, and a store has a password. */
export interface SearchJob {
  readonly settings: StoreSettings;
  readonly query: StoreQuery;
}

/**
 * Searches the store in a process of its own, one at a time, so that a log of gigabytes takes no time of the shards. Its
 * channel closes when the search is not wanted any more, and when this process dies, however it does: then it ends.
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

  maybeBegin(query: StoreQuery): StoreSearch | undefined {
    if (this.running !== undefined) return undefined;
    const child = fork(this.program, [], {
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // What goes wrong with its channel ends the search; unheard it would end this process.
      child.on('error', () => child.pid === undefined && resolve());
    }).then(() => {
      this.running = undefined;
    });
    // Listened to before anything can come.
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
        // Whoever has read this line may begin another search.
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
