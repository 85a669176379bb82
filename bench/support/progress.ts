import { Progress } from '../../src/cli/print/progress.js';

const STEP_MS = 200;
/** Between two lines about players that are being made. */
const TELL_MS = 5000;

/** A bar over runs on a terminal, which moves within a run where all take as long; elsewhere a line for each. */
export class RunProgress {
  private readonly bar = new Progress('Measuring', true);
  private readonly timer = setInterval(() => this.show(), STEP_MS);
  private done = 0;
  private startedAt = performance.now();
  /** The last line about players; undefined: none are being made. */
  private toldAt: number | undefined;

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

  /** The players of the next run are being made, which takes a minute when they are a million. */
  filled(name: string, share: number): void {
    const now = performance.now();
    // The bar moves on when they are there.
    this.startedAt = now;
    const toldAt = this.toldAt ?? now;
    this.toldAt = share === 1 ? undefined : toldAt;
    if (share === 1 || now - toldAt < TELL_MS) return;
    this.toldAt = now;
    this.bar.stop();
    console.log(`${name}: ${Math.floor(share * 100)} % of its players and their open bets are there`);
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
