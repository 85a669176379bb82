import { writeSync } from 'node:fs';

const STDOUT = 1;
/** Limit in bytes of unread lines in memory; further lines are dropped and counted. */
const WAITING_BYTES_MAX = 1024 * 1024;
const RETRY_MS = 100;
/** Time that a slow reader gets at the end for the remaining lines. */
const END_MS = 500;
const PAUSE_MS = 10;

/**
 * Writes lines to stdout in order and at once, so that the last lines before an exit are not lost. A stalled reader
 * stops nothing: when the pipe is full, lines wait in memory. (A blocking write would stop callbacks, health checks and
 * signals as well.) This needs a non-blocking pipe; Node makes it so when the main thread first touches
 * `process.stdout`. A stalled terminal does block. `pino.destination({ sync: false })` is no alternative. It writes a
 * moment later, so our own SIGKILL or a crash in LMDB loses the lines with the reason. With a stalled reader its
 * `flushSync` never returned (10 s, sonic-boom 4.2.1), so the process did not exit.
 */
export class LogOutput {
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    private readonly writeSome: (bytes: Buffer) => number = (bytes) => writeSync(STDOUT, bytes),
    private readonly waitingBytesMax = WAITING_BYTES_MAX,
  ) {}

  /** `line` ends with its line break. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.waitingBytes + bytes.length > this.waitingBytesMax) {
      this.dropped++;
      return;
    }
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.flush();
  }

  /** Writes the remaining lines before the process ends. */
  end(): void {
    const endMs = performance.now() + END_MS;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    while (!this.flush() && performance.now() < endMs) Atomics.wait(sleeper, 0, 0, PAUSE_MS);
  }

  /** False while lines remain. */
  private flush(): boolean {
    try {
      for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
        const written = this.writeSome(first);
        this.waitingBytes -= written;
        if (written < first.length) this.waiting[0] = first.subarray(written);
        else this.waiting.shift();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        this.retryLater();
        return false;
      }
      // The reader is gone or its disk is full; service continues.
      this.dropped += this.waiting.length;
      this.waiting = [];
      this.waitingBytes = 0;
      return true;
    }
    if (this.dropped === 0) return true;
    const { dropped } = this;
    this.dropped = 0;
    const time = new Date().toISOString();
    this.write(
      `${JSON.stringify({ level: 'warn', time, code: 'log-lines-dropped', lines: dropped, msg: 'log lines dropped, nobody read them' })}\n`,
    );
    return this.waiting.length === 0;
  }

  private retryLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
    }, RETRY_MS).unref();
  }
}
