import type { Alert } from '../../admin/console/overview.js';
import { ALERT_RULES, type Judged } from './alert-rules.js';
import type { Readings } from './figures.js';

/**
 * Active alerts with their remedies, most severe first. They watch the same conditions as config/alerts.yaml, except
 * those that need a history.
 */
export function activeAlerts(overview: Judged, figures: Readings, nowMs: number): Alert[] {
  const given = { overview, figures, nowMs };
  const found = ALERT_RULES.flatMap(({ urgency, limit = 0, find }) => {
    const one = find(given, limit);
    return one === undefined ? [] : [{ urgency, ...one }];
  });
  return found.sort((a, b) => Number(a.urgency === 'soon') - Number(b.urgency === 'soon'));
}
