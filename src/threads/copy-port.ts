import type { Copy, CopyOutcome, PutCopies } from '../log/copies.js';
import type { EncodedEntry } from '../ports/wal.js';
import type { FromWorker, Port } from './protocol.js';

/** Sends entries of a worker's shards to other nodes, as copies, through the main thread, which has the connections. */
export class CopyPort {
  private readonly waiting = new Map<number, (outcomes: readonly CopyOutcome[]) => void>();
  private nextId = 1;

  constructor(private readonly port: Port<FromWorker>) {}

  readonly put: PutCopies = (copies) => {
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.port.postMessage({ type: 'copy', id, copies });
    });
  };

  copied(id: number, outcomes: readonly CopyOutcome[]): void {
    this.waiting.get(id)?.(outcomes);
    this.waiting.delete(id);
  }
}

export function copyWithBuffers(copy: Copy): Copy {
  return { ...copy, entries: withBuffers(copy.entries) };
}

export function withBuffers(entries: readonly EncodedEntry[]): readonly EncodedEntry[] {
  return entries.map(withBuffer);
}

/** Converts the bytes back to a Buffer, because a Buffer from another thread arrives as a plain byte array. */
export function withBuffer({ head, bytes }: EncodedEntry): EncodedEntry {
  return { head, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
