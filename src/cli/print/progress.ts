import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { silentLogger } from '../../base/logger.js';
import type { Patience } from '../../shard/log/patience.js';
import type { OnProgress } from '../../tools/frame.js';
import { formatAge } from './format.js';
import { printable } from './table.js';

/** Quick work needs no bar. */
const QUICK_MS = 1000;
const STEP_MS = 100;
/** Steps that the time that is left is estimated from: five seconds. */
const ETA_STEPS = 50;
const ATTEMPTS_MAX = 10;

/** A bar on stderr while long work goes on, where somebody can see it; and a place for sentences that come meanwhile. */
export class Progress {
  private readonly bar: SingleBar | undefined;
  private isShown = false;
  private nextMs = performance.now() + QUICK_MS;

  constructor(what: string, isWanted: boolean) {
    if (!isWanted || !process.stderr.isTTY) return;
    const options = {
      format: `${what} {bar} {percentage} %, {eta_formatted} left`,
      etaBuffer: ETA_STEPS,
      // 0 and infinity are what it estimates before it has something to estimate from.
      formatTime: (seconds: number) =>
        seconds > 0 && Number.isFinite(seconds) ? formatAge(seconds * 1000) : 'a moment',
      clearOnComplete: true,
      linewrap: true,
      // Signals have their own meaning here.
      gracefulExit: false,
    };
    this.bar = new SingleBar(options, Presets.shades_classic);
  }

  readonly update: OnProgress = (done, total) => {
    if (this.bar === undefined || performance.now() < this.nextMs) return;
    this.nextMs = performance.now() + STEP_MS;
    if (this.isShown) {
      this.bar.setTotal(total);
      this.bar.update(done);
    } else {
      this.bar.start(total, done);
    }
    this.isShown = true;
  };

  /** The bar goes on below it. */
  readonly warn = (sentence: string): void => {
    this.stop();
    console.error(`walletd: ${printable(sentence)}`);
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
