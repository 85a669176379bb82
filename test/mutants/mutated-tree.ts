import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTempFolder } from '../support/temp-folder.js';
import { compiledOf, type Mutant, plant } from './mutant.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Folders to which the copy has no link, because it has its own `dist` and needs no git history. */
const NOT_LINKED = new Set(['dist', '.git']);

/**
 * A copy of `dist` in a temporary folder, with links to everything else. Bugs are planted in the copy, never in the
 * real `dist`.
 */
export class MutatedTree {
  private readonly folder = makeTempFolder();

  constructor() {
    const { path } = this;
    for (const name of readdirSync(ROOT)) if (!NOT_LINKED.has(name)) symlinkSync(join(ROOT, name), join(path, name));
    mkdirSync(join(path, 'dist'));
    mkdirSync(this.temp);
    for (const name of ['src', 'test', 'bench'])
      cpSync(join(ROOT, 'dist', name), join(path, 'dist', name), { recursive: true });
  }

  get path(): string {
    return this.folder.path;
  }

  /**
   * The folder for the tests' temporary files. A crashing test leaves files behind, which are removed with the tree.
   */
  get temp(): string {
    return join(this.path, 'temp');
  }

  /** Plants the bug, runs the function, and restores the original. */
  async with<T>(mutant: Mutant, run: () => Promise<T>): Promise<T> {
    const file = join(this.path, compiledOf(mutant.file));
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, plant(mutant, text));
    try {
      return await run();
    } finally {
      writeFileSync(file, text);
    }
  }

  remove(): void {
    this.folder.remove();
  }
}
