import type { Head } from '../../ports/wal.js';
import type { ExportBatch } from './export.js';

export interface ExportSink {
  /**
   * Resolves to true when the operating system has accepted the text, and to false when the reader has disconnected.
   */
  write(text: string): Promise<boolean>;
}

export interface PositionKeeper {
  /** Resolves when the positions are on disk. */
  write(positions: readonly Head[]): Promise<void>;
}

/**
 * The progress of an export: the number of events that the reader has taken, and the newest entry of each shard among
 * them.
 */
export interface Exported {
  events: number;
  positions: readonly Head[];
}

/** Minimum time between two recorded positions under load, because each record syncs a file. */
const NOTE_MS = 200;

/**
 * Writes each batch and then records its position. After an interruption, batches that were written but not yet
 * recorded are written again. A batch that was not written is never recorded. Resolves when the batches end or the
 * reader disconnects.
 */
export async function pumpExport(
  batches: AsyncIterable<ExportBatch>,
  sink: ExportSink,
  keeper: PositionKeeper | undefined,
  monotonicMs: () => number,
  exported: Exported,
): Promise<void> {
  let written: readonly Head[] = [];
  let noted: readonly Head[] = [];
  let notedMs = Number.NEGATIVE_INFINITY;
  const note = async () => {
    if (written.every((position, shard) => position === noted[shard])) return;
    await keeper?.write(written);
    noted = written;
    notedMs = monotonicMs();
  };
  for await (const { text, positions } of batches) {
    if (text !== '' && !(await sink.write(text))) return;
    written = positions;
    exported.positions = positions;
    exported.events += text.split('\n').length - 1;
    if (text === '' || monotonicMs() - notedMs >= NOTE_MS) await note();
  }
  await note();
}
