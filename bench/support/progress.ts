import { Progress } from '../../src/cli/print/progress.js';

const STEP_MS = 200;
/** Interval between progress lines while players are imported. */
const PROGRESS_MS = 5000;

/**
 * The progress of the runs. A terminal shows a bar, which also moves within a run if all runs take equally long. Other
 * outputs get one line per run.
 */
export class RunProgress {
  private readonly bar = new Progress('Measuring', true);
  private readonly timer = setInterval(() => this.show(), STEP_MS);
  private done = 0;
  private startedAt = performance.now();
  /** The time of the last progress line about players; undefined if no import is in progress. */
  private reportedAt: number | undefined;

  constructor(
    private readonly runs: number,
    /** Infinity if the runs differ in length. */
    private readonly secondsEach: number,
  ) {}

  /** Reports the end of a run; `line` is the run's result. */
  next(line: string): void {
    if (!process.stderr.isTTY) console.log(line);
    this.done++;
    this.startedAt = performance.now();
    this.show();
  }

  /** Reports the progress of the import for the next run, which takes a minute for a million players. */
  filled(name: string, share: number): void {
    const now = performance.now();
    // The run's time starts when all players exist, so the bar does not advance before that.
    this.startedAt = now;
    const reportedAt = this.reportedAt ?? now;
    this.reportedAt = share === 1 ? undefined : reportedAt;
    if (share === 1 || now - reportedAt < PROGRESS_MS) return;
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
