import { writeFile } from 'node:fs/promises';

/** A new file that its owner alone can read: it names players. Durable when it resolves. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
}
