import { readdir } from 'node:fs/promises';

/** Limit at which a followed backup continues in a new file: the number of bytes appended, or the file's age. */
export type Rotation = { readonly type: 'bytes' | 'ms'; readonly max: number };

const UNITS: Readonly<Record<string, Rotation>> = {
  MiB: { type: 'bytes', max: 2 ** 20 },
  GiB: { type: 'bytes', max: 2 ** 30 },
  m: { type: 'ms', max: 60_000 },
  h: { type: 'ms', max: 3_600_000 },
  d: { type: 'ms', max: 86_400_000 },
};

/** Parses a limit such as `512MiB`, `8GiB`, `30m`, `24h` or `7d`. Throws an error that lists these forms. */
export function parseRotation(text: string): Rotation {
  const [, digits, name = ''] = /^([1-9]\d{0,5})(MiB|GiB|m|h|d)$/.exec(text) ?? [];
  const unit = UNITS[name];
  if (unit === undefined) throw new Error('it must be a size or a time, such as 512MiB, 8GiB, 30m, 24h or 7d');
  return { type: unit.type, max: Number(digits) * unit.max };
}

export function isDue({ type, max }: Rotation, appended: number, ageMs: number): boolean {
  return (type === 'bytes' ? appended : ageMs) >= max;
}

/** The file name of a rotated backup that begins at this time. The names sort by time. */
export function backupNameAt(timeMs: number, isEncrypted = false): string {
  return `${new Date(timeMs).toISOString().replace(/[:.]/g, '')}.backup${isEncrypted ? '.age' : ''}`;
}

/** Matches the names that `backupNameAt` returns. */
export const BACKUP_NAME = /^\d{4}-\d\d-\d\dT\d{9}Z\.backup(\.age)?$/;

/** Lists the backups in a folder, oldest first. */
export async function backupsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => BACKUP_NAME.test(name)).sort();
}
