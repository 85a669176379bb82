import { dirname } from 'node:path';
import type { Random } from '../../simulation/random.js';
import type { JournalRecord } from './journal.js';
import { LossyFile } from './lossy-file.js';

/** A change to a name in a folder: the file to which the name now refers, if there is one. */
interface Renaming {
  readonly at: number;
  readonly names: readonly (readonly [path: string, file: LossyFile | undefined])[];
  /** The file that this change created. */
  readonly created: LossyFile | undefined;
}

/**
 * Files and their names, both as processes see them and as they are on disk. A new file's name is on disk once the file
 * is synced, as on ext4, XFS and Btrfs. Renames and removals are on disk once their folder is synced.
 */
export class LossyDisk {
  /** Files as processes see them, by path. */
  readonly seen: Map<string, LossyFile>;
  private readonly synced: Map<string, LossyFile>;
  private renamings: Renaming[] = [];
  private readonly inodes: Map<number, LossyFile>;

  /** Files that already exist and are durable, by path and by inode. */
  constructor(files: readonly (readonly [path: string, inode: number, bytes: Buffer])[]) {
    const all = files.map(([path, inode, bytes]) => ({ path, inode, file: new LossyFile(bytes) }));
    this.seen = new Map(all.map(({ path, file }) => [path, file]));
    this.synced = new Map(this.seen);
    this.inodes = new Map(all.map(({ inode, file }) => [inode, file]));
  }

  /** Number of changes that may not be on disk. */
  get unsynced(): number {
    const files = new Set([...this.seen.values(), ...this.synced.values()]);
    return this.renamings.length + [...files].reduce((sum, file) => sum + file.unsynced, 0);
  }

  carryOut({ kind, at, inode, offset, path, data }: JournalRecord): void {
    switch (kind) {
      case 'write':
      case 'durable-write':
        this.mustFile(inode).change(at, offset, data, kind === 'durable-write');
        break;
      case 'whole':
        this.mustFile(inode).change(at, 0, undefined);
        this.mustFile(inode).change(at, 0, data);
        break;
      case 'truncate':
        this.mustFile(inode).change(at, offset, undefined);
        break;
      case 'sync':
        this.sync(this.mustFile(inode), offset);
        break;
      case 'create':
        this.create(at, inode, path);
        break;
      case 'rename':
        this.rename(at, [
          [data.toString(), this.seen.get(path)],
          [path, undefined],
        ]);
        break;
      case 'unlink':
        this.rename(at, [[path, undefined]]);
        break;
      case 'sync-folder':
        this.makeDurable((one) => one.at < offset && one.names.some(([name]) => dirname(name) === path));
        break;
      default:
        kind satisfies never;
    }
  }

  /** Files by path after a power loss. With `random`, some unsynced changes survive. */
  afterLoss(random?: Random): Map<string, Buffer> {
    const kept = random?.below(this.renamings.length + 1) ?? 0;
    const names = new Map(this.synced);
    for (const renaming of this.renamings.slice(0, kept)) apply(renaming, names);
    return new Map([...names].map(([path, file]) => [path, file.afterLoss(random)]));
  }

  private mustFile(inode: number): LossyFile {
    const file = this.inodes.get(inode);
    if (file === undefined) throw new Error(`the creation of inode ${inode} was not recorded`);
    return file;
  }

  private sync(file: LossyFile, before: number): void {
    file.sync(before);
    const created = this.renamings.find((one) => one.created === file && one.at < before);
    if (created === undefined) return;
    const paths = created.names.map(([path]) => path);
    this.makeDurable((one) => one.at <= created.at && one.names.some(([path]) => paths.includes(path)));
  }

  private create(at: number, inode: number, path: string): void {
    const file = new LossyFile(Buffer.alloc(0));
    this.inodes.set(inode, file);
    this.rename(at, [[path, file]], file);
  }

  private rename(at: number, names: Renaming['names'], created?: LossyFile): void {
    const renaming = { at, names, created };
    apply(renaming, this.seen);
    this.renamings.push(renaming);
  }

  private makeDurable(which: (one: Renaming) => boolean): void {
    for (const one of this.renamings) if (which(one)) apply(one, this.synced);
    this.renamings = this.renamings.filter((one) => !which(one));
  }
}

function apply({ names }: Renaming, to: Map<string, LossyFile>): void {
  for (const [path, file] of names) {
    if (file === undefined) to.delete(path);
    else to.set(path, file);
  }
}
