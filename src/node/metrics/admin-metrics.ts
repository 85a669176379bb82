import type { AdminObserver, TokenRefusal } from '../../admin/admin-deps.js';
import type { Labels, Metric } from '../../base/metric.js';
import { counter, perKey } from '../../telemetry/metric.js';
import type { HandLimit } from '../../wallet/hand-limits.js';

/** Counts the operator API's answers and refusals. */
export class AdminMetrics implements AdminObserver {
  private readonly requests = new Map<string, { readonly labels: Labels; value: number }>();
  private readonly refusals: Record<TokenRefusal, number> = {
    'no token': 0,
    'wrong token': 0,
    'too many wrong tokens': 0,
    'the role monitor': 0,
    'the role read': 0,
    'not sent by this machine itself': 0,
    'no session': 0,
    'not sent by the console': 0,
  };

  private readonly limits: Record<HandLimit, number> = { amount: 0, day: 0, minute: 0 };

  answered(route: string, status: number | 'aborted'): void {
    const key = `${status} ${route}`;
    const series = this.requests.get(key) ?? { labels: { route, status }, value: 0 };
    series.value++;
    this.requests.set(key, series);
  }

  refused(reason: TokenRefusal): void {
    this.refusals[reason]++;
  }

  limited(limit: HandLimit): void {
    this.limits[limit]++;
  }

  metrics(): Metric[] {
    return [
      counter('walletd_operator_requests_total', 'Requests to the operator API by route and status.', [
        ...this.requests.values(),
      ]),
      counter(
        'walletd_operator_refused_total',
        'Requests to the operator API that were refused for lack of a valid token or role.',
        perKey('reason', this.refusals),
      ),
      counter(
        'walletd_hand_limited_total',
        'Manual money movements that were refused by a limit on their operator.',
        perKey('limit', this.limits),
      ),
    ];
  }
}
