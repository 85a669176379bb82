import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Scene } from './scene.js';

const PIECE = Buffer.alloc(64 * 1024, 1);

/** A separate file system in memory that can be full or read-only. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** Mounts a disk of this size. Returns undefined if mounting is not permitted. */
  static tryMount(scene: Scene, megabytes: number): SmallDisk | undefined {
    const path = scene.makeFolder();
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path)) return undefined;
    scene.atEnd(() => run('umount', '--lazy', path));
    return new SmallDisk(path);
  }

  /** Uses up all free space. */
  fill(): void {
    const file = openSync(join(this.path, 'filler'), 'w');
    try {
      for (;;) writeSync(file, PIECE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(join(this.path, 'filler'));
  }

  /** Makes the disk read-only. Call this only while no file is open for writing. */
  setReadOnly(): void {
    if (!run('mount', '-o', 'remount,ro', this.path)) throw new Error('the disk cannot be made read-only');
  }
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}
