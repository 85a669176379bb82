import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Resources held by a process. */
export interface Held {
  /** Open descriptors except those of files in the process's own folder. */
  readonly descriptors: number;
  readonly residentMb: number;
}

/**
 * Resources held by a process; undefined if the system does not report them.
 * @param folder The folder of the process's store. Its files are not counted, because a store opens files as it grows: a
 *   new file of the archive for each day, for example.
 */
export function findHeldBy(pid: number, folder: string): Held | undefined {
  if (!existsSync(`/proc/${pid}`)) return undefined;
  const residentKb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const descriptors = targetsOf(pid).filter((target) => !target.startsWith(`${folder}/`)).length;
  return { descriptors, residentMb: Math.round(Number(residentKb) / 1024) };
}

/** Targets of a process's descriptors, each with the number of descriptors that have it. */
export function openFilesOf(pid: number): string[] {
  const counts = new Map<string, number>();
  for (const descriptor of targetsOf(pid)) {
    // The number of a socket or pipe differs for each, and says nothing.
    const target = descriptor.replace(/:\[\d+\]$/, '');
    counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  return [...counts].map(([target, count]) => `${count} ${target}`).sort();
}

function targetsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((descriptor) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`);
    } catch {
      return 'closed meanwhile';
    }
  });
}
