import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { ToolError } from '../store-reader.js';

/** Where the bytes of a backup go. */
export interface ByteSink {
  write(bytes: Buffer): Promise<void>;
  /** What has been written is as durable as it can be when it resolves. */
  sync(): Promise<void>;
  /** Nothing more comes. Everything has been written when it resolves; may be called again. */
  close(): Promise<void>;
}

/** A file to which this process alone appends, and that has `bytes` already. */
export function fileSink(path: string, file: FileHandle, bytes: number): ByteSink {
  let written = bytes;
  return {
    async write(piece) {
      const { size, nlink } = await file.stat();
      if (nlink === 0) throw new ToolError(`${path} was removed while it was written`);
      // Two processes that follow into one file would spoil it for both.
      if (size !== written) throw new ToolError(`another process writes to ${path} as well`);
      await file.appendFile(piece);
      written += piece.length;
    },
    sync: () => file.datasync(),
    close: () => file.close(),
  };
}

/** A pipe, which stays open. */
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

/** What `transform` makes of the bytes goes into `sink`; the last of it when this is closed. */
export function transformingSink(
  sink: ByteSink,
  transform: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
): ByteSink {
  const through = new PassThrough();
  const pumped = pump(transform(through), sink);
  // It is awaited with the next write.
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
