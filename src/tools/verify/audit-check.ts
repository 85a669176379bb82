import { formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type AuditHead, auditAfter, emptyAudit } from '../../wallet/audit-chain.js';
import type { Event } from '../../wallet/event.js';
import type { Findings } from './findings.js';

/**
 * Recomputes the audit chain of a shard from its log. Compares it with the chains in snapshots, and with a head that
 * was recorded elsewhere. If the log began under an older walletd, chains begin at snapshots of a newer one.
 */
export class AuditCheck {
  /** The state of each chain at the newest event, keyed by the beginning of the chain. */
  private readonly chains = new Map<string, AuditHead>();
  private wasSeen = false;

  constructor(
    private readonly shard: number,
    private readonly begun: AuditHead,
    private readonly noted: AuditHead | undefined,
    private readonly findings: Findings,
  ) {
    this.adopt(begun);
  }

  /** The chain with which the replay began, as of its newest event. */
  get head(): AuditHead {
    return this.chains.get(this.begun.since) ?? this.begun;
  }

  take(event: Event): void {
    for (const chain of this.chains.values()) {
      const next = auditAfter(chain, event);
      if (next !== chain) this.adopt(next);
    }
  }

  /** Compares the chain with that of a snapshot that starts at the current position of the replay. */
  compare({ id, start, tallies }: Pick<Manifest, 'id' | 'start' | 'tallies'>): void {
    const theirs = tallies?.audit;
    if (theirs === undefined) return;
    const mine = this.chains.get(theirs.since);
    if (mine === undefined) {
      // A chain does not include events before its beginning, so a snapshot that begins a chain must be trusted.
      this.adopt(theirs);
    } else if (mine.count !== theirs.count || mine.hash !== theirs.hash) {
      this.add(
        `snapshot ${id} has ${describe(theirs)} at ${formatLsn(start.lsn)}, but the log yields ${describe(mine)}`,
      );
    }
  }

  /** Begins the chains of the snapshots that start at this entry. */
  pass(lsn: Lsn, manifests: readonly Pick<Manifest, 'tallies'>[]): void {
    const here = formatLsn(lsn);
    const begins = manifests.some(({ tallies }) => tallies?.audit?.since === here);
    if (begins && !this.chains.has(here)) this.adopt(emptyAudit(here));
  }

  /** Reports a recorded head that the replay has not passed, although the replay has reached the end of the log. */
  finish(): void {
    const { noted, begun } = this;
    if (noted === undefined || this.wasSeen) return;
    const mine = this.chains.get(noted.since);
    if (mine === undefined) {
      this.add(`the noted audit chain begins at ${noted.since}, but this store has no such chain`);
    } else if (noted.count > mine.count) {
      this.add(`${describe(noted)} were noted, but this store has ${describe(mine)}`);
    } else if (noted.since !== begun.since || noted.count >= begun.count) {
      this.add(`the first ${noted.count} operations differ from the noted ones: ${describe(noted)}`);
    }
  }

  private adopt(chain: AuditHead): void {
    this.chains.set(chain.since, chain);
    const { noted } = this;
    if (noted?.since === chain.since && noted.count === chain.count && noted.hash === chain.hash) this.wasSeen = true;
  }

  private add(what: string): void {
    this.findings.add('audit', `shard ${this.shard}: ${what}`);
  }
}

function describe({ count, hash }: AuditHead): string {
  return `${count} operations (${hash.slice(0, 16)}…)`;
}
