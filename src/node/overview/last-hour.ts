import type { Moment } from '../../admin/console/overview.js';
import type { Figures } from './figures.js';

const EVERY_MS = 10_000;
const MOMENTS_MAX = 360;

/**
 * Activity of the callback listener in the last hour. It is recorded even while no console is open, because six records
 * a minute cost nothing.
 */
export class LastHour {
  private readonly moments: Moment[] = [];
  private last: { readonly atMs: number; readonly figures: Figures } | undefined = undefined;

  /** `read` returns the callback listener's counters. */
  constructor(private readonly read: () => Figures) {}

  get all(): readonly Moment[] {
    return this.moments;
  }

  /** Adds a record if one is due. Must be called regularly. */
  noteIfDue(nowMs: number): void {
    const { last } = this;
    // Use the absolute difference. Otherwise, recording would stop for a long time after the clock is set back.
    if (last !== undefined && Math.abs(nowMs - last.atMs) < EVERY_MS) return;
    const figures = this.read();
    this.last = { atMs: nowMs, figures };
    if (last === undefined || nowMs <= last.atMs) return;
    this.moments.push(momentOf(nowMs, (nowMs - last.atMs) / 1000, figures, last.figures));
    if (this.moments.length > MOMENTS_MAX) this.moments.shift();
  }
}

function momentOf(atMs: number, seconds: number, figures: Figures, before: Figures): Moment {
  const all = (of: Figures, isWanted: (httpStatus: unknown, result: unknown) => boolean) =>
    of
      .series('walletd_callbacks_total')
      .filter(({ labels }) => isWanted(labels.http_status, labels.result))
      .reduce((sum, { value }) => sum + value, 0);
  const perSecond = (isWanted: (httpStatus: unknown, result: unknown) => boolean) =>
    (all(figures, isWanted) - all(before, isWanted)) / seconds;
  const quantile = (q: number) => {
    const value = figures.quantile('walletd_callback_seconds', {}, q, before);
    return value === null ? null : value * 1000;
  };
  return {
    atMs,
    accepted: perSecond((_, result) => result === 'accepted'),
    refused: perSecond((httpStatus, result) => httpStatus === 200 && result !== 'accepted'),
    failed: perSecond((httpStatus) => httpStatus !== 200),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}
