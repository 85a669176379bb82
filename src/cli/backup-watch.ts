import { renameSync, writeFileSync } from 'node:fs';
import { Gauge, Registry } from 'prom-client';

export interface WatchOptions {
  /** A file that is written whenever all of the store is in the backup. */
  readonly heartbeat?: string;
  /** A file of metrics for the textfile collector of node_exporter. */
  readonly metrics?: string;
}

const WRITE_MS = 5000;

/** Tells others how far a followed backup is. */
export class BackupWatch {
  private readonly registry = new Registry();
  private readonly covered = this.gauge(
    'covered_timestamp_seconds',
    'All of the store up to this time is in the backup',
  );
  private readonly lagSeconds = this.gauge('lag_seconds', 'Seconds since all of the store was in the backup');
  private readonly lagEntries = this.gauge('lag_entries', 'Entries of the logs that the backup did not have yet');
  private readonly bytes = this.gauge('file_bytes', 'Size of the file that is being written');
  private readonly begun = this.gauge('file_begun_timestamp_seconds', 'When that file was begun');
  private readonly failures = this.gauge('then_failures', 'Times that the command of --then has failed');
  private readonly timer: NodeJS.Timeout;
  private coveredMs: number | undefined = undefined;
  private isFailing = false;

  constructor(
    private readonly options: WatchOptions,
    private readonly warn: (sentence: string) => void,
    private readonly thenFailures: () => number,
  ) {
    this.timer = setInterval(() => this.write(), WRITE_MS).unref();
  }

  file(beginsMs: number): void {
    this.begun.set(beginsMs / 1000);
  }

  behind(entries: number): void {
    this.lagEntries.set(entries);
  }

  /** All that the store had at this time is on the disk. */
  covers(timeMs: number, bytes: number): void {
    this.coveredMs = timeMs;
    this.lagEntries.set(0);
    this.bytes.set(bytes);
    this.put(this.options.heartbeat, async () => `${new Date(timeMs).toISOString()}\n`);
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  private async write(): Promise<void> {
    const { coveredMs } = this;
    if (coveredMs === undefined) return;
    this.covered.set(coveredMs / 1000);
    this.lagSeconds.set(Math.max(0, (Date.now() - coveredMs) / 1000));
    this.failures.set(this.thenFailures());
    await this.put(this.options.metrics, () => this.registry.metrics());
  }

  /** Whole or not at all; a failure is said once. */
  private async put(path: string | undefined, text: () => Promise<string>): Promise<void> {
    if (path === undefined) return;
    try {
      const whole = await text();
      writeFileSync(`${path}.partial`, whole);
      renameSync(`${path}.partial`, path);
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.warn(`${path} cannot be written: ${(error as Error).message}`);
      this.isFailing = true;
    }
  }

  private gauge(name: string, help: string): Gauge {
    return new Gauge({ name: `walletd_backup_${name}`, help, registers: [this.registry] });
  }
}
