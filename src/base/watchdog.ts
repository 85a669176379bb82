const TICK_MS = 1000;

/**
 * Detects that a part which should report has fallen silent. The watchdog counts its own ticks and reads no clock.
 * After a pause of the process or the machine every part has long been silent, without a chance to report.
 */
export class Watchdog {
  private silentTicks = 0;
  private readonly timer: NodeJS.Timeout;

  /**
   * `onSilence` is called after `secondsMax` seconds without a call of `heard`, and again after each further
   * `secondsMax` seconds.
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
