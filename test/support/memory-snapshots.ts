import type { StoredSnapshot } from '../../src/ports/snapshot-store.js';

interface Snapshot {
  manifest: Buffer | undefined;
  readonly chunks: Map<number, Buffer>;
}

/** One shard's snapshots in memory, which tests may damage. */
export class MemorySnapshots {
  private readonly byId = new Map<string, Snapshot>();

  list(): StoredSnapshot[] {
    return Array.from(this.byId, ([id, { manifest }]) => ({ id, manifest }));
  }

  chunk(id: string, index: number): Buffer | undefined {
    return this.byId.get(id)?.chunks.get(index);
  }

  hasAll(kept: readonly StoredSnapshot[]): boolean {
    return kept.every(({ id, manifest }) => {
      const found = this.byId.get(id);
      return found !== undefined && sameBytes(found.manifest, manifest);
    });
  }

  begin(id: string): boolean {
    if (!this.byId.has(id)) this.byId.set(id, { manifest: undefined, chunks: new Map() });
    return this.byId.get(id)?.manifest === undefined;
  }

  write(id: string, index: number, bytes: Buffer): boolean {
    const found = this.byId.get(id);
    if (found === undefined || found.manifest !== undefined) return false;
    found.chunks.set(index, Buffer.from(bytes));
    return true;
  }

  publish(id: string, manifest: Buffer): boolean {
    const found = this.byId.get(id);
    if (found === undefined || (found.manifest !== undefined && !found.manifest.equals(manifest))) return false;
    found.manifest = Buffer.from(manifest);
    return true;
  }

  delete(id: string): void {
    this.byId.delete(id);
  }

  /** Flips a byte in the middle of a chunk. */
  damageChunk(id: string, index: number): void {
    const { chunks } = this.mustFind(id);
    const found = chunks.get(index);
    if (found === undefined) throw new Error(`snapshot ${id} has no chunk ${index}`);
    const damaged = Buffer.from(found);
    const middle = damaged.length >> 1;
    damaged.writeUInt8(damaged.readUInt8(middle) ^ 0xff, middle);
    chunks.set(index, damaged);
  }

  loseChunk(id: string, index: number): void {
    if (!this.mustFind(id).chunks.delete(index)) throw new Error(`snapshot ${id} has no chunk ${index}`);
  }

  replaceManifest(id: string, manifest: Buffer): void {
    this.mustFind(id).manifest = manifest;
  }

  private mustFind(id: string): Snapshot {
    const found = this.byId.get(id);
    if (found === undefined) throw new Error(`no snapshot ${id}`);
    return found;
  }
}

function sameBytes(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
