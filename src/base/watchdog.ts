const TICK_MS = 1000;

/**
 * Notices that somebody who should speak says nothing. It counts its own ticks and does not look at a clock: after a
 * pause (of the process, or of the whole machine) everybody has been silent for long, and nobody had a chance to speak.
 */
export class Watchdog {
  private silentTicks = 0;
  private readonly timer: NodeJS.Timeout;

  /** `onSilence` is called once `heard` has not been called for so many seconds, and after as many again. */
  constructor(
    private readonly secondsMax: number,
    private readonly onSilence: () => void,
  ) {
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  heard(): void {
    this.silentTicks = 0;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    this.silentTicks++;
    if (this.silentTicks <= this.secondsMax) return;
    this.silentTicks = 0;
    this.onSilence();
  }
}
