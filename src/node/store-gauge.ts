import type { Store, StoreRoom } from '../store/store.js';

const EVERY_MS = 15_000;

/** Asks now and then how large the store is: a scrape must not wait for it. */
export class StoreGauge {
  /** Undefined until the store has answered once, and while it does not answer. */
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
