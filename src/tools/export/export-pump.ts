import type { Head } from '../../shard/log/wal.js';
import type { ExportBatch } from './export.js';

export interface ExportSink {
  /** Resolves to true when the system has taken the text, to false when the reader has gone. */
  write(text: string): Promise<boolean>;
}

export interface PositionKeeper {
  /** Resolves when the positions are on disk. */
  write(positions: readonly Head[]): Promise<void>;
}

/** Progress of an export: events that the reader has taken, and the entries at which they end. */
export interface Exported {
  events: number;
  positions: readonly Head[];
}

/** Interval between notes of the position under load. Each note syncs a file. */
const NOTE_MS = 200;

/**
 * Writes batch after batch, and notes the position after each. An interruption at any point leaves unwritten batches
 * unnoted; batches written but not noted come again. Resolves at the end of the batches, or when the reader has gone.
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
