import type { RegistryView } from '../ports/table.js';

/** Maximum number of reported names. If more members are missing, the cluster has worse problems than this list. */
const MISSING_MAX = 100;

/**
 * Names of members that disappeared without announcing their departure and have not come back. A node that died or
 * hangs is missing. A node that was stopped or drained is not. A restarted node comes back under its name.
 */
export class MissingMembers {
  /** By name: whether the member's last record announced its departure. */
  private known = new Map<string, boolean>();
  private readonly names = new Set<string>();

  get all(): readonly string[] {
    return [...this.names].sort();
  }

  /**
   * Must be called with each view of the registry, and also periodically, because a dead member may stay in the
   * registry.
   */
  look({ members }: Pick<RegistryView, 'members'>, isGone: (tag: string) => boolean): void {
    const present = new Map<string, boolean>();
    for (const [tag, { name, isLeaving }] of members) if (!isGone(tag)) present.set(name, isLeaving === true);
    for (const [name, wasLeaving] of this.known) {
      if (!present.has(name) && !wasLeaving && this.names.size < MISSING_MAX) this.names.add(name);
    }
    for (const name of present.keys()) this.names.delete(name);
    this.known = present;
  }
}
