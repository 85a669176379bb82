import { readFileSync, statSync } from 'node:fs';
import type { Backup } from '../../admin/console/overview.js';
import { messageOf } from '../../base/message-of.js';

const BYTES_MAX = 64 * 1024;
const LINE = /^walletd_backup_(\w+) (\S+)$/gm;
const MS = 1000;

/**
 * The progress of a backup in follow mode, read from the file that `walletd backup --metrics` writes on this machine;
 * see `backupMetrics`.
 */
export function readBackup(path: string | null): Backup {
  if (path === null) return { state: 'unseen' };
  try {
    const { size } = mustBeFile(path);
    if (size > BYTES_MAX) throw new Error(`it has ${size} bytes`);
    const figures = new Map(
      [...readFileSync(path, 'utf8').matchAll(LINE)].map(([, name = '', text]) => [name, Number(text)]),
    );
    const of = (name: string) => {
      const value = figures.get(name);
      if (value === undefined || !Number.isFinite(value)) throw new Error(`it has no walletd_backup_${name}`);
      return value;
    };
    return {
      state: 'seen',
      coveredMs: of('covered_timestamp_seconds') * MS,
      lagEntries: of('lag_entries'),
      fileBytes: of('file_bytes'),
      fileBegunMs: of('file_begun_timestamp_seconds') * MS,
      thenFailures: of('then_failures_total'),
    };
  } catch (error) {
    return { state: 'unreadable', path, reason: messageOf(error) };
  }
}

/** Read only regular files, because reading anything else could block forever. */
function mustBeFile(path: string) {
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error('it is not a file');
  return stat;
}
