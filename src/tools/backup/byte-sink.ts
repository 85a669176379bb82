import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { ToolError } from '../store-reader.js';

/** The destination to which a backup is written. */
export interface ByteSink {
  write(bytes: Buffer): Promise<void>;
  /** Resolves when all written bytes are as durable as this destination allows. */
  sync(): Promise<void>;
  /** Ends the stream. Resolves when all bytes are written. May be called more than once. */
  close(): Promise<void>;
}

/** A sink that appends to a file, which already has `bytes` bytes. No other process may append to the file. */
export function fileSink(path: string, file: FileHandle, bytes: number): ByteSink {
  let written = bytes;
  return {
    async write(piece) {
      const { size, nlink } = await file.stat();
      if (nlink === 0) throw new ToolError(`${path} was removed while it was written`);
      // Stop if the size of the file has changed: two processes that append to the same file would corrupt it.
      if (size !== written) throw new ToolError(`another process writes to ${path} as well`);
      await file.appendFile(piece);
      written += piece.length;
    },
    sync: () => file.datasync(),
    close: () => file.close(),
  };
}

/** A sink that writes to a pipe and leaves it open. */
export function pipeSink(pipe: Writable): ByteSink {
  let broken: Error | undefined;
  pipe.on('error', (error: Error) => {
    broken = error;
  });
  return {
    async write(piece) {
      await new Promise<void>((resolve, reject) => {
        if (broken !== undefined) reject(broken);
        else pipe.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    },
    async sync() {
      if (broken !== undefined) throw broken;
    },
    async close() {},
  };
}

/** A sink that writes the output of `transform` into `sink`. Closing it writes the last bytes. */
export function transformingSink(
  sink: ByteSink,
  transform: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): ByteSink {
  const through = new PassThrough();
  const pumped = pump(transform(through), sink);
  // Keep the failure, so that the next write reports it.
  let failure: Error | undefined;
  pumped.catch((error: Error) => {
    failure = error;
    through.destroy();
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    through.end();
    try {
      await pumped;
      await sink.sync();
    } finally {
      await sink.close();
    }
  };
  return {
    async write(piece) {
      if (!through.write(piece)) await Promise.race([once(through, 'drain'), pumped]);
      if (failure !== undefined) throw failure;
    },
    async sync() {},
    close() {
      closing ??= close();
      return closing;
    },
  };
}

async function pump(pieces: AsyncIterable<Buffer>, sink: ByteSink): Promise<void> {
  for await (const piece of pieces) await sink.write(piece);
}
