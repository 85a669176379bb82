import { renameSync, writeFileSync } from 'node:fs';
import { backupMetrics } from '../node/metrics/backup-metrics.js';
import { expose } from '../telemetry/exposition.js';

export interface WatchOptions {
  /** The path of the heartbeat file, which is written each time the backup catches up with the store. */
  readonly heartbeat?: string;
  /** The path of the metrics file for node_exporter's textfile collector. */
  readonly metrics?: string;
}

const WRITE_MS = 5000;

/** Publishes the progress of a followed backup for monitoring. */
export class BackupWatch {
  private readonly timer: NodeJS.Timeout;
  private coveredMs: number | undefined = undefined;
  private lagEntries = 0;
  private fileBytes = 0;
  private fileBegunMs = 0;
  private isFailing = false;
  private differs = false;

  constructor(
    private readonly options: WatchOptions,
    private readonly warn: (sentence: string) => void,
    private readonly thenFailures: () => number,
  ) {
    this.timer = setInterval(() => void this.write(), WRITE_MS).unref();
  }

  file(begunMs: number): void {
    this.fileBegunMs = begunMs;
  }

  behind(entries: number): void {
    this.lagEntries = entries;
  }

  /** Records that everything that the store contained at this time is on disk. */
  covers(timeMs: number, bytes: number): void {
    this.coveredMs = timeMs;
    this.lagEntries = 0;
    this.fileBytes = bytes;
    this.put(this.options.heartbeat, `${new Date(timeMs).toISOString()}\n`);
  }

  /** Records that the followed backup ends, because its archive is not the one that walletd uses. */
  archiveDiffers(): void {
    this.differs = true;
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  private async write(): Promise<void> {
    const { coveredMs, lagEntries, fileBytes, fileBegunMs, differs: archiveDiffers, options } = this;
    if (options.metrics === undefined || coveredMs === undefined) return;
    const progress = {
      coveredMs,
      lagEntries,
      fileBytes,
      fileBegunMs,
      thenFailures: this.thenFailures(),
      archiveDiffers,
    };
    this.put(options.metrics, await expose(backupMetrics(progress, Date.now())));
  }

  /** Replaces the file atomically. Repeated failures are reported only once. */
  private put(path: string | undefined, text: string): void {
    if (path === undefined) return;
    try {
      writeFileSync(`${path}.partial`, text);
      renameSync(`${path}.partial`, path);
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.warn(`${path} cannot be written: ${(error as Error).message}`);
      this.isFailing = true;
    }
  }
}
