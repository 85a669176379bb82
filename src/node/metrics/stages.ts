import type { Metric } from '../../base/metric.js';
import type { Histogram } from '../../telemetry/histogram.js';
import { histogram } from '../../telemetry/metric.js';

/**
 *   queue     from a command's arrival until its turn begins
 *   decide    its turn
 *   durable   until its entry is durable
 *   reply     until its answer is sent, including the way back from a worker
 */
export type Stage = 'queue' | 'decide' | 'durable' | 'reply';

/** The series of one stage. All stages share one metric. */
export function stageMetric(stage: Stage, recorded: Histogram): Metric {
  return histogram(
    'walletd_stage_seconds',
    'Time that a command spends in each stage, in seconds: queue, decide, durable (until its entry is durable), reply.',
    recorded,
    { stage },
  );
}
