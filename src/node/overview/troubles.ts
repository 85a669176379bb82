import type { Overview, Trouble } from '../../admin/console/overview.js';
import type { Figures } from './figures.js';
import { TROUBLE_RULES } from './trouble-rules.js';

/**
 * What is not as it should be, in words with what to do, the worst first. The same as config/alerts.yaml watches, as far as
 * one moment shows it.
 */
export function troublesOf(overview: Omit<Overview, 'troubles'>, figures: Figures, nowMs: number): Trouble[] {
  const given = { overview, figures, nowMs };
  const found = TROUBLE_RULES.flatMap(({ urgency, limit = 0, find }) => {
    const one = find(given, limit);
    return one === undefined ? [] : [{ urgency, ...one }];
  });
  return found.sort((a, b) => Number(a.urgency === 'soon') - Number(b.urgency === 'soon'));
}
