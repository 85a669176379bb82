import type { Metric } from '../../base/metric.js';
import type { FeedLag, FeedWithLag } from '../../feed/request.js';
import { gauge } from '../../telemetry/metric.js';

/** Lag of each feed of the store; empty until the store has responded once. A store has at most 32 feeds. */
export function feedMetrics(feeds: readonly Pick<FeedWithLag, 'name' | 'lag'>[] | undefined): Metric[] {
  if (feeds === undefined) return [];
  const perFeed = (of: (lag: FeedLag) => number) =>
    feeds.map(({ name, lag }) => ({ labels: { feed: name }, value: of(lag) }));
  return [
    gauge(
      'walletd_feed_lag_entries',
      'Log entries that the consumer of a feed has not acknowledged. Every node shows all feeds of the store.',
      perFeed(({ entries }) => entries),
    ),
    gauge(
      'walletd_feed_lag_bytes',
      'About the bytes of these entries.',
      perFeed(({ bytes }) => bytes),
    ),
    gauge(
      'walletd_feed_lag_seconds',
      'Age of the oldest of these entries.',
      perFeed(({ ms }) => ms / 1000),
    ),
  ];
}
