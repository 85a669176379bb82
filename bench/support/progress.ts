import { Progress } from '../../src/cli/print/progress.js';

const STEP_MS = 200;
/** Interval between two progress lines about the import of players. */
const TELL_MS = 5000;

/**
 * Progress of runs: on a terminal a bar, which moves within a run where all runs take equally long; elsewhere a line
 * for each run.
 */
export class RunProgress {
  private readonly bar = new Progress('Measuring', true);
  private readonly timer = setInterval(() => this.show(), STEP_MS);
  private done = 0;
  private startedAt = performance.now();
  /** Time of the last line about players; undefined when no import is under way. */
  private reportedAt: number | undefined;

  constructor(
    private readonly runs: number,
    /** Infinity when they differ. */
    private readonly secondsEach: number,
  ) {}

  /** Reports the end of a run; `line` is its result. */
  next(line: string): void {
    if (!process.stderr.isTTY) console.log(line);
    this.done++;
    this.startedAt = performance.now();
    this.show();
  }

  /** Reports the import for the next run, which takes a minute for a million players. */
  filled(name: string, share: number): void {
    const now = performance.now();
    // The bar moves on when all players exist.
    this.startedAt = now;
    const reportedAt = this.reportedAt ?? now;
    this.reportedAt = share === 1 ? undefined : reportedAt;
    if (share === 1 || now - reportedAt < TELL_MS) return;
    this.reportedAt = now;
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
