/** Some complete lines of a file, unchanged. */
export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lines: number;
  /** Offset of the next piece. */
  readonly end: number;
}

const NEWLINE = 0x0a;
/**
 * Maximum size of a piece. walletd answers while it receives a piece, but a browser reads answers only after it has
 * sent everything. Until then the answers must fit into the socket buffers.
 */
const PIECE_BYTES = 64 * 1024;
const PIECE_LINES = 500;

/**
 * Reads the complete lines from `start` on. If the first line is longer than a piece, returns its beginning, which
 * walletd refuses as too long.
 */
export async function pieceAt(file: Blob, start: number): Promise<Piece> {
  const read = new Uint8Array(await file.slice(start, start + PIECE_BYTES).arrayBuffer());
  const { lines, length } = wholeLines(read, start + read.length >= file.size);
  if (length > 0) return { bytes: read.subarray(0, length), lines, end: start + length };
  return { bytes: read, lines: 1, end: await lineEnd(file, start + read.length) };
}

/** Counts complete lines. The last line of a file may have no line ending. */
function wholeLines(bytes: Uint8Array, isLast: boolean): { lines: number; length: number } {
  let [lines, length] = [0, 0];
  while (lines < PIECE_LINES && length < bytes.length) {
    const end = bytes.indexOf(NEWLINE, length);
    if (end === -1 && !isLast) break;
    length = end === -1 ? bytes.length : end + 1;
    lines++;
  }
  return { lines, length };
}

async function lineEnd(file: Blob, from: number): Promise<number> {
  for (let start = from; start < file.size; start += PIECE_BYTES) {
    const bytes = new Uint8Array(await file.slice(start, start + PIECE_BYTES).arrayBuffer());
    const end = bytes.indexOf(NEWLINE);
    if (end !== -1) return start + end + 1;
  }
  return file.size;
}
