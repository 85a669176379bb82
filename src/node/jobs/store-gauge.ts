import type { Store, StoreRoom } from '../../store/store.js';

const EVERY_MS = 15_000;

/** Measures the store's size at regular intervals, because a scrape must not wait for the store. */
export class StoreGauge {
  /** The latest measurement. Undefined until the store has responded once, and while it does not respond. */
  newest: StoreRoom | undefined = undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly store: Pick<Store, 'room'>,
    everyMs = EVERY_MS,
  ) {
    this.timer = setInterval(() => void this.look(), everyMs).unref();
    void this.look();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    this.newest = await this.store.room().catch(() => undefined);
  }
}
