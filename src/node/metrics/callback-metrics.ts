import type { Labels, Metric, MetricValue } from '../../base/metric.js';
import { ENDPOINTS } from '../../callback/callbacks.js';
import { CALLBACK_FAILURES, FAILURES, type StatusCodes } from '../../callback/failures.js';
import { type BodyRefusal, fieldOf } from '../../callback/refusal.js';
import type { Addressed, CallbackObserver, Outcome } from '../../http/callback-observer.js';
import type { ListenerMeasures } from '../../http/callback-server.js';
import { Histogram, SECONDS_BOUNDS } from '../../telemetry/histogram.js';
import { counter, gauge, histogram, perKey } from '../../telemetry/metric.js';
import type { Endpoint } from '../../wallet/command.js';
import { stageMetric } from './stages.js';

type Counts = Record<Outcome, number>;

const OUTCOMES = ['accepted', ...Object.keys(CALLBACK_FAILURES)] as readonly Outcome[];

/**
 * Counts the callback listener's answers in plain numbers, which are converted to metrics when Prometheus scrapes them.
 */
export class CallbackMetrics implements CallbackObserver {
  private readonly counts: Readonly<Record<Addressed, Counts>>;
  private readonly totals = new Histogram(SECONDS_BOUNDS);
  private readonly replies = new Histogram(SECONDS_BOUNDS);
  private aborts = 0;
  /** Keyed by endpoint, field and kind of rule; there are only a few combinations. */
  private readonly malformedCounts = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(private readonly codes: StatusCodes) {
    const addressed = [...ENDPOINTS, 'other'] as const;
    const none = () => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Counts;
    this.counts = Object.fromEntries(addressed.map((to) => [to, none()])) as Record<Addressed, Counts>;
  }

  answered(to: Addressed, outcome: Outcome): void {
    this.counts[to][outcome]++;
  }

  took(startedMs: number, readyMs: number | undefined, endedMs: number): void {
    this.totals.record((endedMs - startedMs) / 1000);
    if (readyMs !== undefined) this.replies.record((endedMs - readyMs) / 1000);
  }

  malformed(endpoint: Endpoint, refusal: BodyRefusal): void {
    const labels = { endpoint, field: fieldOf(refusal), rule: refusal.kind };
    const key = `${endpoint} ${labels.field} ${labels.rule}`;
    const series = this.malformedCounts.get(key) ?? { labels, value: 0 };
    series.value++;
    this.malformedCounts.set(key, series);
  }

  aborted(): void {
    this.aborts++;
  }

  metrics({ inFlight, connections, usesByKey }: ListenerMeasures): Metric[] {
    return [
      counter('walletd_callbacks_total', 'Callbacks answered.', this.answers()),
      counter(
        'walletd_callbacks_malformed_total',
        'Malformed callbacks by field and by the rule that the field violates.',
        [...this.malformedCounts.values()],
      ),
      counter(
        'walletd_callbacks_aborted_total',
        'Callbacks whose connection closed before they were answered.',
        this.aborts,
      ),
      gauge('walletd_callbacks_in_flight', 'Callbacks that have not been answered yet.', inFlight),
      gauge('walletd_connections', 'Open connections to the callback listener.', connections),
      // This metric shows which signature keys are in use, so that an operator can withdraw an unused one.
      ...(usesByKey === undefined
        ? []
        : [counter('walletd_signed_total', 'Callbacks signed with each key.', perKey('key', usesByKey))]),
      histogram(
        'walletd_callback_seconds',
        'Time from the headers of a callback to its answer, in seconds.',
        this.totals,
      ),
      stageMetric('reply', this.replies),
    ];
  }

  private answers(): MetricValue[] {
    return Object.entries(this.counts).flatMap(([endpoint, counts]) =>
      answersOf(endpoint as Addressed, counts, this.codes),
    );
  }
}

/**
 * Counts of accepted callbacks and of failures that alerts watch are exported from the start, because Prometheus sees
 * no increase in a series that appears with a value of 5. Counts of ordinary failures, such as an insufficient balance,
 * are exported once the first one occurs.
 */
function answersOf(endpoint: Addressed, counts: Counts, codes: StatusCodes): MetricValue[] {
  return OUTCOMES.flatMap((result) => {
    const value = counts[result];
    const statusCode = result === 'accepted' ? 0 : codes[result];
    const httpStatus = result === 'accepted' ? 200 : FAILURES[result].httpStatus;
    const isExpected = httpStatus !== 200 || (result === 'accepted' && endpoint !== 'other');
    if (value === 0 && !isExpected) return [];
    return [{ labels: { endpoint, status_code: statusCode, http_status: httpStatus, result }, value }];
  });
}
