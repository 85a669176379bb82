import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** A child of a killed server, such as one that saves a Redis, can still write files for a moment. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** New folder in the system's temporary folder. The caller must remove it. */
export function makeTempFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'walletd-test-'));
  return { path, remove: () => rmSync(path, REMOVED) };
}

/** The path of a new folder. It is removed after the calling test or, outside a test, after the file's tests. */
export function newTempFolder(): string {
  const folder = makeTempFolder();
  after(() => folder.remove());
  return folder.path;
}

/** Runs a function with a new folder, which is removed afterwards. */
export async function inTempFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = makeTempFolder();
  try {
    await run(folder.path);
  } finally {
    folder.remove();
  }
}
