import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckResult, StoreRoom } from '../store.js';
import { judgeFreeSpace, timeWrites } from '../write-times.js';

/**
 * File systems (statfs f_type) that are in memory or on the network, where LMDB's locks and memory maps do not work.
 */
const UNSUITABLE: Readonly<Record<number, string>> = {
  16914836: 'tmpfs, which is emptied by a reboot',
  26985: 'NFS, on which LMDB does not work',
  4283649346: 'CIFS, on which LMDB does not work',
};

export async function examineFolder(
  folder: string,
  { usedBytes, freeBytes }: StoreRoom,
): Promise<readonly CheckResult[]> {
  const { type } = await statfs(folder);
  const unsuitable = UNSUITABLE[type];
  const kind: CheckResult =
    unsuitable === undefined
      ? { about: 'durability', verdict: 'good', says: 'every answer waits for a commit with fdatasync' }
      : {
          about: 'durability',
          verdict: 'bad',
          says: `it is on ${unsuitable}`,
          todo: 'put it on a disk of this machine',
        };
  return [
    kind,
    await timeFile(folder),
    judgeFreeSpace(
      usedBytes,
      freeBytes ?? 0,
      'use a larger disk, or lower history.maxBytes: callbacks get 503 when the disk is full',
    ),
  ];
}

/** Times writes in a subfolder, which is on the same disk as the data. Reports a full disk as a failed check. */
async function timeFile(folder: string): Promise<CheckResult> {
  try {
    return await timeTrial(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return { about: 'durable write', verdict: 'bad', says: 'there is no space left for one', todo: 'make room' };
  }
}

async function timeTrial(folder: string): Promise<CheckResult> {
  const trial = await mkdtemp(join(folder, 'trial-'));
  try {
    const file = await open(join(trial, 'file'), 'w');
    try {
      const todo = 'a disk that syncs faster (a local SSD), or one that nothing else writes to';
      return await timeWrites(async (bytes) => {
        await file.write(bytes, 0, bytes.length, 0);
        await file.datasync();
      }, todo);
    } finally {
      await file.close();
    }
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}
