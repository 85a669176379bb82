import type { TableView } from './table.js';

/** A cluster that is larger than this has more than this to say. */
const MISSING_MAX = 100;

/**
 * Names of members that went without saying that they leave, and have not come back: a node that died or hangs is missing, one
 * that was stopped or drained is not. A restarted node comes back under its name.
 */
export class MissingMembers {
  /** By name: whether its last word was that it leaves. */
  private known = new Map<string, boolean>();
  private readonly names = new Set<string>();

  get all(): readonly string[] {
    return [...this.names].sort();
  }

  /** To be called with each view of the table, and from time to time: a member that is gone may stay in the table. */
  look({ members }: Pick<TableView, 'members'>, isGone: (tag: string) => boolean): void {
    const present = new Map<string, boolean>();
    for (const [tag, { name, isLeaving }] of members) if (!isGone(tag)) present.set(name, isLeaving === true);
    for (const [name, wasLeaving] of this.known) {
      if (!present.has(name) && !wasLeaving && this.names.size < MISSING_MAX) this.names.add(name);
    }
    for (const name of present.keys()) this.names.delete(name);
    this.known = present;
  }
}
