import { writeSync } from 'node:fs';

const STDOUT = 1;
/** Maximum bytes of unread lines in memory. Further lines are dropped and counted. */
const WAITING_BYTES_MAX = 1024 * 1024;
const RETRY_MS = 100;
/** The time that a slow reader has at exit to read the remaining lines. */
const END_MS = 500;
const PAUSE_MS = 10;

/**
 * Writes lines to stdout immediately and in order, so that the last lines before an exit are not lost. A stalled reader
 * does not block the process: if the pipe is full, lines wait in memory. (A blocking write would also stop callbacks,
 * health checks and signals.) This requires a non-blocking pipe, which Node sets up when the main thread first accesses
 * `process.stdout`. A stalled terminal does block. `pino.destination({ sync: false })` is not an alternative. It writes
 * a moment later, so our own SIGKILL or a crash in LMDB loses the lines that contain the reason. With a stalled reader,
 * its `flushSync` never returned (10 s, sonic-boom 4.2.1), so the process did not exit.
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

  /** `line` ends with a line break. */
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

  /** Writes the remaining lines before the process exits. */
  end(): void {
    const endMs = performance.now() + END_MS;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    while (!this.flush() && performance.now() < endMs) Atomics.wait(sleeper, 0, 0, PAUSE_MS);
  }

  /** Returns false while lines remain. */
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
      // The reader is gone or its disk is full. Drop the lines and keep serving.
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
