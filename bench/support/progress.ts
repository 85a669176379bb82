import { Progress } from '../../src/cli/print/progress.js';

const STEP_MS = 200;

/** A bar over runs on a terminal, which moves within a run where all take as long; elsewhere a line for each. */
export class RunProgress {
  private readonly bar = new Progress('Measuring', true);
  private readonly timer = setInterval(() => this.show(), STEP_MS);
  private done = 0;
  private startedAt = performance.now();

  constructor(
    private readonly runs: number,
    /** Infinity when they differ. */
    private readonly secondsEach: number,
  ) {}

  /** A run is over; `line` is what it showed. */
  next(line: string): void {
    if (!process.stderr.isTTY) console.log(line);
    this.done++;
    this.startedAt = performance.now();
    this.show();
  }

  stop(): void {
    clearInterval(this.timer);
    this.bar.stop();
  }

  private show(): void {
    const seconds = (performance.now() - this.startedAt) / 1000;
    this.bar.update(Math.min(this.done + Math.min(seconds / this.secondsEach, 1), this.runs), this.runs);
  }
}
