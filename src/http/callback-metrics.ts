import type { Metric, MetricValue } from '../base/metric.js';
import { Histogram, SECONDS_BOUNDS } from '../telemetry/histogram.js';
import { stageMetric } from '../telemetry/stages.js';
import { ENDPOINTS, type Endpoint } from '../wallet/command.js';
import { FAILURES, type Failure } from '../wallet/rejection.js';

/** What became of a request: a failure's name, or that there was none. */
export type Outcome = 'accepted' | Failure;
/** 'other' is whatever is no callback. */
export type Addressed = Endpoint | 'other';

type Counts = Record<Outcome, number>;

const OUTCOMES = ['accepted', ...Object.keys(FAILURES)] as readonly Outcome[];

/** What the listener knows beside its answers. */
export interface ListenerMeasures {
  readonly inFlight: number;
  readonly connections: number;
  /** Undefined where requests are not signed. */
  readonly usesByKey: Readonly<Record<string, number>> | undefined;
}

/** What the callback listener has answered, in plain numbers: a scrape makes metrics of them. */
export class CallbackMetrics {
  private readonly counts: Readonly<Record<Addressed, Counts>>;
  private readonly totals = new Histogram(SECONDS_BOUNDS);
  private readonly replies = new Histogram(SECONDS_BOUNDS);
  private aborts = 0;

  constructor() {
    const addressed = [...ENDPOINTS, 'other'] as const;
    const none = () => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Counts;
    this.counts = Object.fromEntries(addressed.map((to) => [to, none()])) as Record<Addressed, Counts>;
  }

  count(to: Addressed, outcome: Outcome): void {
    this.counts[to][outcome]++;
  }

  /** Times are of the monotonic clock; nobody knows since when a refusal could be told. */
  took(startedMs: number, readyMs: number | undefined, endedMs: number): void {
    this.totals.record((endedMs - startedMs) / 1000);
    if (readyMs !== undefined) this.replies.record((endedMs - readyMs) / 1000);
  }

  aborted(): void {
    this.aborts++;
  }

  metrics({ inFlight, connections, usesByKey }: ListenerMeasures): Metric[] {
    return [
      {
        name: 'walletd_callbacks_total',
        help: 'Answers to the platform.',
        type: 'counter',
        values: Object.entries(this.counts).flatMap(([endpoint, counts]) => answers(endpoint as Addressed, counts)),
      },
      {
        name: 'walletd_callbacks_aborted_total',
        help: 'Callbacks whose connection ended before their answer.',
        type: 'counter',
        values: [{ labels: {}, value: this.aborts }],
      },
      {
        name: 'walletd_callbacks_in_flight',
        help: 'Callbacks that wait for their answer.',
        type: 'gauge',
        values: [{ labels: {}, value: inFlight }],
      },
      {
        name: 'walletd_connections',
        help: 'Connections to the callback listener.',
        type: 'gauge',
        values: [{ labels: {}, value: connections }],
      },
      ...(usesByKey === undefined ? [] : [signedMetric(usesByKey)]),
      {
        name: 'walletd_callback_seconds',
        help: 'From the headers of a callback to its answer.',
        type: 'histogram',
        values: this.totals.values('walletd_callback_seconds'),
      },
      stageMetric('reply', this.replies),
    ];
  }
}

/** Which keys are still in use: one that is not can be withdrawn. */
function signedMetric(usesByKey: Readonly<Record<string, number>>): Metric {
  const values = Object.entries(usesByKey).map(([key, value]) => ({ labels: { key }, value }));
  return { name: 'walletd_signed_total', help: 'Callbacks that a key has signed.', type: 'counter', values };
}

/**
 * Accepted ones, and what alerts ask for, from the start: to Prometheus a series that begins at 5 has not grown. Failures
 * of the player's normal day once there has been one.
 */
function answers(endpoint: Addressed, counts: Counts): MetricValue[] {
  return OUTCOMES.flatMap((result) => {
    const value = counts[result];
    const { statusCode, httpStatus } = result === 'accepted' ? { statusCode: 0, httpStatus: 200 } : FAILURES[result];
    const isExpected = httpStatus !== 200 || (result === 'accepted' && endpoint !== 'other');
    if (value === 0 && !isExpected) return [];
    return [{ labels: { endpoint, status_code: statusCode, http_status: httpStatus, result }, value }];
  });
}
