import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const PROCESS = '/proc/self';

/**
 * Memory limit of the process's control groups (cgroup versions 1 and 2), in bytes. Each group up to the root can kill
 * the process when it reaches its limit, so the lowest limit counts. Undefined if no group has a limit. `root` is the
 * folder that contains `proc` and the groups.
 */
export function findGroupMemoryLimit(root = '/'): number | undefined {
  const groups = linesOf(join(root, PROCESS, 'cgroup'));
  const limits = linesOf(join(root, PROCESS, 'mountinfo')).flatMap((line) => {
    const mount = parseMount(line);
    if (mount === undefined) return [];
    const group = groups.map((one) => pathIn(one, mount)).find((path) => path !== undefined);
    return group === undefined ? [] : limitsUpwards(join(root, mount.point), relative(mount.base, group), mount.file);
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

interface Mount {
  readonly isV2: boolean;
  /** The path of the group that is mounted at `point`. A container sees only its own part of the group tree. */
  readonly base: string;
  readonly point: string;
  readonly file: 'memory.max' | 'memory.limit_in_bytes';
}

/** Parses a line of mountinfo; see proc(5). Undefined if the mount has no memory limits. */
function parseMount(line: string): Mount | undefined {
  const [front = '', behind = ''] = line.split(' - ');
  const [, , , base = '', point = ''] = front.split(' ');
  const [type, , options = ''] = behind.split(' ');
  if (type === 'cgroup2') return { isV2: true, base, point, file: 'memory.max' };
  const isMemory = type === 'cgroup' && options.split(',').includes('memory');
  return isMemory ? { isV2: false, base, point, file: 'memory.limit_in_bytes' } : undefined;
}

/** The path of the group in a line of /proc/self/cgroup; undefined if the line belongs to a different mount. */
function pathIn(line: string, { isV2 }: Mount): string | undefined {
  const [, id, controllers = '', path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
  const isOurs = isV2 ? id === '0' && controllers === '' : controllers.split(',').includes('memory');
  return isOurs ? path : undefined;
}

function limitsUpwards(point: string, group: string, file: string): number[] {
  // If the group is outside the mount, use the mount's root.
  const names = group.startsWith('..') ? [] : group.split('/').filter((name) => name !== '');
  const folders = names.map((_, n) => join(point, ...names.slice(0, n + 1)));
  return [point, ...folders].flatMap((folder) => {
    // There is no limit if the file is missing or contains `max`. Version 1 writes a number near 2^63 instead of `max`.
    const limit = Number(linesOf(join(folder, file))[0] || 'max');
    return Number.isSafeInteger(limit) && limit > 0 ? [limit] : [];
  });
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
