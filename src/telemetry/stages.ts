import type { Metric } from '../base/metric.js';
import type { Histogram } from './histogram.js';

/**
 *   queue     from a command's arrival until its turn begins
 *   decide    the turn
 *   durable   until its entry is durable
 *   reply     until its answer is told, the way back from a worker included
 */
export type Stage = 'queue' | 'decide' | 'durable' | 'reply';

/** One stage's part of the metric of all stages. */
export function stageMetric(stage: Stage, histogram: Histogram): Metric {
  const name = 'walletd_stage_seconds';
  const help = 'Stages in the life of a command: queue, decide, durable (until its entry is), reply.';
  return { name, help, type: 'histogram', values: histogram.values(name, { stage }) };
}
