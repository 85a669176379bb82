/** Length of a record's header; the same value as in power-loss.c. */
const HEADER_BYTES = 32;
const KINDS = [
  'write',
  'durable-write',
  'whole',
  'truncate',
  'sync',
  'create',
  'rename',
  'unlink',
  'sync-folder',
] as const;

/** One operation by a process on a file or folder. */
export interface JournalRecord {
  readonly kind: (typeof KINDS)[number];
  /** The position in the journal. */
  readonly at: number;
  readonly inode: number;
  /**
   * Offset in the file, the file's new length, or, for a sync, the journal position up to which the sync made
   * everything durable.
   */
  readonly offset: number;
  readonly path: string;
  /** Bytes written, or the new path after a rename. */
  readonly data: Buffer;
}

/** Records in order. The last one may be truncated because its process was killed. */
export function* readJournal(bytes: Buffer): Generator<JournalRecord> {
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const pathAt = at + HEADER_BYTES;
    const dataAt = pathAt + bytes.readUInt32LE(at + 4);
    const end = dataAt + Number(bytes.readBigUInt64LE(at + 24));
    if (end > bytes.length) return;
    const kind = KINDS[bytes.readUInt32LE(at) - 1];
    if (kind === undefined) throw new Error(`the journal has no record at ${at}`);
    yield {
      kind,
      at,
      inode: Number(bytes.readBigUInt64LE(at + 8)),
      offset: Number(bytes.readBigUInt64LE(at + 16)),
      path: bytes.toString('utf8', pathAt, dataAt),
      data: bytes.subarray(dataAt, end),
    };
    at = end;
  }
}
