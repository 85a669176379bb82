import { writeFile } from 'node:fs/promises';

/** Writes a new file that only its owner can read, because it names players. Durable when the promise resolves. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
}
