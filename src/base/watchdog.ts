const TICK_MS = 1000;

/**
 * Detects that a component which should report regularly has stopped reporting. The watchdog counts its own ticks
 * instead of reading a clock. After a pause of the process or the machine, a clock would show a long silence, although
 * the component had no chance to report.
 */
export class Watchdog {
  private silentTicks = 0;
  private readonly timer: NodeJS.Timeout;

  /**
   * `onSilence` is called after `secondsMax` seconds without a call to `heard`, and again after every further
   * `secondsMax` seconds of silence.
   */
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
