import type { RegistryView } from './table.js';

/**
 * How long the members keep data. A member that is down still wants its data kept. Its number counts until a member of
 * the same name reports another number, or this process ends. A member that reports no number counts only while it is
 * in the registry: a replaced older walletd must not stop forgetting for good.
 */
export class Retentions {
  /** By name, since nodes get a new tag with each start. */
  private readonly byName = new Map<string, number>();

  viewed({ members }: RegistryView): void {
    for (const { name, retentionMs } of members.values()) {
      if (retentionMs !== undefined) this.byName.set(name, retentionMs);
    }
  }

  /**
   * Retention per member name. Undefined for a member that reports none, and the only element before the registry has
   * answered.
   */
  all(view: RegistryView | undefined): readonly (number | undefined)[] {
    if (view === undefined) return [undefined];
    const silent = [...view.members.values()].filter(({ retentionMs }) => retentionMs === undefined);
    return [...this.byName.values(), ...silent.map(() => undefined)];
  }
}
