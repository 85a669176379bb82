import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { readNodeFile } from './read-node-file.js';

/**
 * The newest confirmed time, which is stored in the node's folder. Without it, the errors of several restarts with a
 * wrong clock would add up.
 */
export class TimeRecord {
  private constructor(
    private readonly path: string,
    /** The recorded time in milliseconds since 1970. Undefined if no time was recorded or the file is unreadable. */
    readonly confirmedMs: number | undefined,
  ) {}

  /** `store` distinguishes stores that share a folder. Throws an `UnknownFormatError` if a newer walletd wrote the file. */
  static read(folder: string, store: string): TimeRecord {
    const path = join(folder, `time-${crc32(store).toString(16).padStart(8, '0')}.json`);
    return new TimeRecord(path, confirmedMsIn(path));
  }

  /** Records the time. Throws if the file cannot be written. */
  write(confirmedMs: number): void {
    mkdirSync(dirname(this.path), { recursive: true });
    const temporary = `${this.path}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify({ confirmedMs }), { flush: true });
    renameSync(temporary, this.path);
  }
}

function confirmedMsIn(path: string): number | undefined {
  const confirmedMs = readNodeFile<{ confirmedMs: unknown }>(path)?.confirmedMs;
  return Number.isSafeInteger(confirmedMs) ? (confirmedMs as number) : undefined;
}
