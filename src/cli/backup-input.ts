import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CompletePart, checkBackup } from '../tools/backup/backup-reader.js';
import { type BackupSource, fileSource, pipeSource } from '../tools/backup/backup-source.js';
import { backupsIn } from '../tools/backup/rotation.js';
import { type At, checkReach, reachesOf } from '../tools/point-in-time.js';
import { ToolError } from '../tools/store-reader.js';
import { CutOffError } from './cut-off-error.js';
import { isoTime } from './print/format.js';
import { Progress } from './print/progress.js';

/** An argument that selects standard input or output. */
export const PIPE = '-';

export interface BackupInputOptions {
  /** The file with the age identities that decrypt an encrypted backup. */
  readonly identity?: string;
  readonly acceptCutOff?: true;
  readonly json?: true;
}

export const IDENTITY_OPTION = ['--identity <file>', 'file of age identities to decrypt the backup with'] as const;

/** The backup to read. If its source can be read more than once, the backup has already been checked completely. */
export interface BackupInput {
  readonly source: BackupSource;
  /** Undefined for a pipe, which is checked while it is being read. */
  readonly whole: CompletePart | undefined;
}

/**
 * Opens the backup at a path or on standard input. In a folder filled by `--rotate`, picks the newest file that reaches
 * back to `at`. Throws a `ToolError` if the backup is damaged or no file reaches back that far.
 */
export async function backupInput(
  from: string,
  at: At | undefined,
  options: BackupInputOptions = {},
): Promise<BackupInput> {
  const open = await openerOf(options);
  if (from === PIPE) return { source: open(pipeSource('standard input', process.stdin)), whole: undefined };
  if (!(await stat(from)).isDirectory()) return await proved(open(fileSource(from)), at, options);
  let reason = new ToolError(`there is no backup in the folder ${from}`);
  for (const name of (await backupsIn(from)).reverse()) {
    const found = await checked(open(fileSource(join(from, name))), options);
    try {
      checkReach(at, reachesOf(found.whole.coverage));
      return found;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      reason = error;
    }
  }
  throw reason;
}

/** The backup at a path, or the newest backup in a folder filled by `--rotate`; undefined if there is neither. */
export async function findBackupFile(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  const newest = found?.isDirectory() ? (await backupsIn(path)).at(-1) : undefined;
  return newest && join(path, newest);
}

/**
 * Returns a sentence about an incomplete last segment. Throws a `CutOffError` unless the caller accepts an incomplete
 * one.
 */
export function cutOffSentence(
  { name }: BackupSource,
  { cutBytes, coverage }: CompletePart,
  { acceptCutOff }: BackupInputOptions,
): string | undefined {
  if (cutBytes === 0) return undefined;
  const end = `the last segment of ${name} was cut off; the complete part goes up to ${isoTime(coverage.timeMs)}`;
  if (!acceptCutOff) throw new CutOffError(`${end}: --accept-cut-off restores that part`);
  return end;
}

async function proved(source: BackupSource, at: At | undefined, options: BackupInputOptions): Promise<BackupInput> {
  const found = await checked(source, options);
  checkReach(at, reachesOf(found.whole.coverage));
  return found;
}

async function checked(
  source: BackupSource,
  { json }: BackupInputOptions,
): Promise<{ readonly source: BackupSource; readonly whole: CompletePart }> {
  const progress = new Progress('Checking the file', !json);
  const whole = await checkBackup(source, progress.update).finally(() => progress.stop());
  return { source, whole };
}

async function openerOf({ identity }: BackupInputOptions): Promise<(source: BackupSource) => BackupSource> {
  if (identity === undefined) return (source) => source;
  const { opening } = await import('../tools/backup/age.js');
  return await opening(identity);
}
