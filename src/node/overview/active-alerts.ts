import type { Trouble } from '../../admin/console/overview.js';
import { ALERT_RULES, type Judged } from './alert-rules.js';
import type { Readings } from './figures.js';

/**
 * Active alerts in words with the remedy, the worst first. config/alerts.yaml watches the same conditions, as far as
 * one moment shows them.
 */
export function activeAlerts(overview: Judged, figures: Readings, nowMs: number): Trouble[] {
  const given = { overview, figures, nowMs };
  const found = ALERT_RULES.flatMap(({ urgency, limit = 0, find }) => {
    const one = find(given, limit);
    return one === undefined ? [] : [{ urgency, ...one }];
  });
  return found.sort((a, b) => Number(a.urgency === 'soon') - Number(b.urgency === 'soon'));
}
