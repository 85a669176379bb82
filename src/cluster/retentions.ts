import type { RegistryView } from '../ports/table.js';

/**
 * How long the members keep data. A member that is down still needs its data kept. Its retention therefore counts until
 * a member of the same name reports a different one, or this process ends. A member that reports no retention counts
 * only while it is in the registry. Otherwise an older walletd that has been replaced would prevent data from ever
 * being forgotten.
 */
export class Retentions {
  /** By name, because a node gets a new tag each time it starts. */
  private readonly byName = new Map<string, number>();

  viewed({ members }: RegistryView): void {
    for (const { name, retentionMs } of members.values()) {
      if (retentionMs !== undefined) this.byName.set(name, retentionMs);
    }
  }

  /**
   * Retention per member name. Undefined for a member that reports none. Until the registry has answered, undefined is
   * the only element.
   */
  all(view: RegistryView | undefined): readonly (number | undefined)[] {
    if (view === undefined) return [undefined];
    const silent = [...view.members.values()].filter(({ retentionMs }) => retentionMs === undefined);
    return [...this.byName.values(), ...silent.map(() => undefined)];
  }
}
