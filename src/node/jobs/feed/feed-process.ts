import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FeedService } from '../../../admin/feed-service.js';
import type { Logger } from '../../../base/logger.js';
import type { DamagedLog, FeedAnswer, FeedRequest } from '../../../feed/request.js';
import type { StoreSettings } from '../../drivers/driver.js';
import type { FromFeedProgram, ToFeedProgram } from './feed-program.js';

const PROGRAM = fileURLToPath(new URL('./feed-program.js', import.meta.url));
/** Limit of the heap. The process keeps the currency of every player, about a hundred bytes each. */
const HEAP_MIB = 1024;
/** Time without requests after which the process ends. */
const IDLE_MS = 60_000;
/** Pause between two loads, in which the process learns of new players. Less than `IDLE_MS`. */
const WARM_MS = 5000;
/** After a failed load, the pause is this many times as long: a load of all players is expensive. */
const FAILED_PAUSES = 12;
const NEVER = new AbortController().signal;
/** Time limit after which the process is killed, because closing an unresponsive store could take longer. */
const KILL_AFTER_MS = 3000;
const AWAY: FeedAnswer = { type: 'failed', reason: 'the process that reads the feed has ended' };

interface Running {
  readonly child: ChildProcess;
  readonly pending: Map<number, (answer: FeedAnswer) => void>;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Answers requests about the event feed in a separate process, so that reading logs takes no time from the shards. The
 * process starts with the first request, and ends a minute after the last one or with this process. A node of a cluster
 * keeps the process loaded as long as the store has feeds, because a consumer of another node may come at any time.
 */
export class FeedProcess implements FeedService {
  private readonly settings: StoreSettings;
  private running: Running | undefined = undefined;
  private newest = 0;
  private warming: NodeJS.Timeout | undefined = undefined;
  private isClosed = false;
  private readonly reported = new Set<string>();

  constructor(
    { store, storePrefix, durability, redis, archive, postgres }: StoreSettings,
    private readonly log: Logger,
    /** Undefined on a node without a cluster, which keeps nothing loaded. Rejects during an outage. */
    hasFeeds?: () => Promise<boolean>,
    private readonly program = PROGRAM,
    private readonly warmMs = WARM_MS,
  ) {
    this.settings = { store, storePrefix, durability, redis, archive, postgres };
    if (hasFeeds !== undefined) this.warmLater(hasFeeds, warmMs);
  }

  ask(request: FeedRequest, signal: AbortSignal): Promise<FeedAnswer> {
    const running = this.running ?? this.start();
    clearTimeout(running.idle);
    const id = ++this.newest;
    const { child, pending } = running;
    return new Promise((resolve) => {
      const hurry = () => send(child, { type: 'hurry', id });
      pending.set(id, (answer) => {
        pending.delete(id);
        signal.removeEventListener('abort', hurry);
        if (answer.type === 'page') this.report(answer.damaged);
        if (pending.size === 0) running.idle = setTimeout(() => this.end(running), IDLE_MS).unref();
        resolve(answer);
      });
      send(child, { type: 'request', id, request });
      if (signal.aborted) hurry();
      else signal.addEventListener('abort', hurry);
    });
  }

  close(): void {
    clearTimeout(this.warming);
    this.isClosed = true;
    if (this.running !== undefined) this.end(this.running);
  }

  /** Logs each damage once. */
  private report(damaged: readonly DamagedLog[]): void {
    for (const { shard, reason } of damaged) {
      const damage = `${shard} ${reason}`;
      if (this.reported.has(damage)) continue;
      this.reported.add(damage);
      this.log.error({ code: 'feed-shard-damaged', shard, reason }, 'feed cannot read on in the log of a shard');
    }
  }

  private warmLater(hasFeeds: () => Promise<boolean>, pauseMs: number): void {
    const warm = async () => {
      const isWell = await this.warmUp(hasFeeds);
      if (!this.isClosed) this.warmLater(hasFeeds, isWell ? this.warmMs : this.warmMs * FAILED_PAUSES);
    };
    this.warming = setTimeout(() => void warm(), pauseMs).unref();
  }

  /** Returns false if a load failed. Each load is a request, which keeps the process from ending. */
  private async warmUp(hasFeeds: () => Promise<boolean>): Promise<boolean> {
    const isWanted = await hasFeeds().catch(() => false);
    if (!isWanted || this.isClosed) return true;
    try {
      return (await this.ask({ type: 'warm-up' }, NEVER)).type === 'warm';
    } catch {
      // The system started no process.
      return false;
    }
  }

  private start(): Running {
    const child = fork(this.program, [], {
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const running: Running = { child, pending: new Map(), idle: undefined };
    this.running = running;
    const gone = () => {
      if (this.running === running) this.running = undefined;
      clearTimeout(running.idle);
      for (const answered of [...running.pending.values()]) answered(AWAY);
      clearTimeout(running.idle);
    };
    child.on('message', ({ id, answer }: FromFeedProgram) => running.pending.get(id)?.(answer));
    child.once('disconnect', gone);
    child.once('exit', gone);
    // An error of the channel must not end this process.
    child.on('error', () => child.pid === undefined && gone());
    send(child, { type: 'open', settings: this.settings });
    return running;
  }

  private end(running: Running): void {
    if (this.running === running) this.running = undefined;
    const { child } = running;
    if (!child.connected) return;
    child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref();
    child.once('exit', () => clearTimeout(timer));
  }
}

function send(child: ChildProcess, message: ToFeedProgram): void {
  if (child.connected) child.send(message, () => {});
}
