import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../simulation/random.js';
import { makeTempFolder } from '../temp-folder.js';
import { readJournal } from './journal.js';
import { LossyDisk } from './lossy-disk.js';

const SOURCE = fileURLToPath(new URL('../../../../test/support/power-loss/power-loss.c', import.meta.url));
/** Lock files, which LMDB maps into memory, and recreates if no process has them open. */
const MAPPED = /[/-]lock(\.mdb)?$/;

/** A sentence that explains why power loss cannot be simulated on this machine; undefined if it can. */
export function whyNoPowerLoss(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux preloads power-loss.c';
  return spawnSync('gcc', ['--version']).status === 0
    ? undefined
    : 'gcc is not installed: apt-get install gcc libc6-dev';
}

/**
 * A folder on a simulated disk that can lose power. Processes with `env` write to it normally, and their syncs are
 * recorded.
 */
export class FragileFolder {
  readonly path: string;
  private readonly own = makeTempFolder();
  private readonly library = join(this.own.path, 'power-loss.so');
  private readonly journal = join(this.own.path, 'journal');
  private disk: LossyDisk;

  /** Treats existing files as durable. */
  constructor(path: string) {
    mkdirSync(path, { recursive: true });
    this.path = realpathSync(path);
    execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-o', this.library, SOURCE, '-ldl']);
    this.disk = diskOf(this.path);
  }

  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.library, POWER_LOSS_FOLDER: this.path, POWER_LOSS_JOURNAL: this.journal };
  }

  /**
   * Simulates the power loss, after the folder's processes have been killed. Keeps only synced data; with `random`,
   * also some of the rest. Returns the number of unsynced changes.
   */
  losePower(random?: Random): number {
    const disk = this.read();
    for (const path of filesIn(this.path)) rmSync(path);
    for (const [path, bytes] of disk.afterLoss(random)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
    this.begin();
    return disk.unsynced;
  }

  remove(): void {
    this.own.remove();
  }

  /**
   * Call this after the folder's processes have exited cleanly. Throws if a process wrote anything that power-loss.c
   * did not record. Such data would be lost even though it was synced.
   */
  mustHaveSeenAll(): void {
    const { seen } = this.read();
    const there = filesIn(this.path).filter((path) => !MAPPED.test(path));
    const paths = [...seen.keys()].filter((path) => !MAPPED.test(path));
    assert.deepEqual(paths.sort(), there.sort());
    for (const path of there) {
      const isSame = seen.get(path)?.seen.bytes.equals(readFileSync(path));
      assert.ok(isSame, `power-loss.c has not seen each write to ${path}`);
    }
    this.begin();
  }

  /** Treats the folder's current contents as durable. */
  private begin(): void {
    rmSync(this.journal, { force: true });
    this.disk = diskOf(this.path);
  }

  private read(): LossyDisk {
    if (existsSync(this.journal))
      for (const record of readJournal(readFileSync(this.journal))) this.disk.carryOut(record);
    return this.disk;
  }
}

function diskOf(folder: string): LossyDisk {
  return new LossyDisk(filesIn(folder).map((path) => [path, statSync(path).ino, readFileSync(path)]));
}

function filesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}
