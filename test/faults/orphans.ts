import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Entries that walletd saved because its log has lost them, by file. In a file, each entry is preceded by its length.
 */
export function readOrphans(folder: string): Map<string, Buffer[]> {
  const names = readdirSync(folder).filter((name) => name.startsWith('orphans-'));
  return new Map(names.map((name) => [name, entriesOf(readFileSync(join(folder, name)))]));
}

function entriesOf(bytes: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    entries.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return entries;
}
