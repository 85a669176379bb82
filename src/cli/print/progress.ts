import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { type Coded, silentLogger } from '../../base/logger.js';
import type { OnProgress } from '../../base/progress.js';
import type { RetryPolicy } from '../../ports/retry-policy.js';
import { formatAge } from './format.js';
import { printable } from './printable.js';

/** The bar appears after this time, so that quick work shows no bar. */
const QUICK_MS = 1000;
const STEP_MS = 100;
/** The remaining time is estimated from this many steps, which cover five seconds. */
const ETA_STEPS = 50;
const ATTEMPTS_MAX = 10;

/** Shows a progress bar on the terminal (stderr) during long work, and prints sentences above it. */
export class Progress {
  private readonly bar: SingleBar | undefined;
  private isDrawn = false;
  private nextMs = performance.now() + QUICK_MS;

  /** `what` names the work, such as "Verifying". Without a terminal there is no bar. */
  constructor(what: string, isShown = true) {
    if (!isShown || !process.stderr.isTTY) return;
    const options = {
      format: `${what} {bar} {percentage} %, {eta_formatted} left`,
      etaBuffer: ETA_STEPS,
      // cli-progress estimates 0 or infinity until it has seen enough steps.
      formatTime: (seconds: number) =>
        seconds > 0 && Number.isFinite(seconds) ? formatAge(seconds * 1000) : 'a moment',
      clearOnComplete: true,
      linewrap: true,
      // The commands handle signals themselves.
      gracefulExit: false,
    };
    this.bar = new SingleBar(options, Presets.shades_classic);
  }

  readonly update: OnProgress = (done, total) => {
    if (this.bar === undefined || performance.now() < this.nextMs) return;
    this.nextMs = performance.now() + STEP_MS;
    if (this.isDrawn) {
      this.bar.setTotal(total);
      this.bar.update(done);
    } else {
      this.bar.start(total, done);
    }
    this.isDrawn = true;
  };

  /** Prints a sentence. The bar continues below it. */
  readonly warn = (sentence: string): void => {
    this.stop();
    console.error(`walletd: ${printable(sentence)}`);
  };

  /** Retry policy that gives up after ten seconds and prints a sentence about each failed attempt. */
  get retryPolicy(): RetryPolicy {
    const warn = ({ what, error }: Coded) => this.warn(`cannot ${what}, retrying: ${error}`);
    return { attemptsMax: ATTEMPTS_MAX, delay, log: { ...silentLogger, warn } };
  }

  stop(): void {
    if (this.isDrawn) this.bar?.stop();
    this.isDrawn = false;
  }
}
