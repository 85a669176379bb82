import { clearLine, cursorTo } from 'node:readline';
import { Presets, SingleBar } from 'cli-progress';
import type { OnProgress } from '../restore/frame.js';

/** Quick work needs no bar. */
const PATIENCE_MS = 1000;

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
    } else if (performance.now() - this.startedMs > PATIENCE_MS) {
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

  stop(): void {
    if (this.isShown) this.bar?.stop();
    this.isShown = false;
  }
}
