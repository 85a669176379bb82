import { clearLine, cursorTo } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { silentLogger } from '../base/ports.js';
import type { OnProgress } from '../restore/frame.js';
import type { Patience } from '../shard/take-over.js';

/** Quick work needs no bar. */
const QUICK_MS = 1000;
const ATTEMPTS_MAX = 10;

/** A bar on stderr while long work goes on, where somebody can see it; and a place for sentences that come meanwhile. */
export class Progress {
  private readonly bar: SingleBar | undefined;
  private readonly startedMs = performance.now();
  private isShown = false;

  constructor(what: string, isWanted: boolean) {
    if (!isWanted || !process.stderr.isTTY) return;
    const options = {
      format: `${what} {bar} {percentage} % | {eta_formatted} left`,
      clearOnComplete: true,
      linewrap: true,
      // Signals have their own meaning here.
      gracefulExit: false,
    };
    this.bar = new SingleBar(options, Presets.shades_classic);
  }

  readonly update: OnProgress = (done, total) => {
    if (this.bar === undefined) return;
    if (this.isShown) {
      if (this.bar.getTotal() !== total) this.bar.setTotal(total);
      this.bar.update(done);
    } else if (performance.now() - this.startedMs > QUICK_MS) {
      this.isShown = true;
      this.bar.start(total, done);
    }
  };

  readonly warn = (sentence: string): void => {
    if (this.isShown) {
      clearLine(process.stderr, 0);
      cursorTo(process.stderr, 0);
    }
    console.error(`walletd: ${sentence}`);
  };

  /** Ten seconds of bad weather, and a sentence about each attempt. */
  get patience(): Patience {
    const warn = ({ error }: { error?: string }, message: string) => this.warn(`${message}: ${error}`);
    return { attemptsMax: ATTEMPTS_MAX, delay, log: { ...silentLogger, warn } };
  }

  stop(): void {
    if (this.isShown) this.bar?.stop();
    this.isShown = false;
  }
}
