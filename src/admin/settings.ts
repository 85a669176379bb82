import type { AdminDeps } from './admin-deps.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { exactly, list, ref } from './schemas.js';

/** Route that lists the settings in force. Secrets are already redacted. */
export function settingsRoute({ settingsInForce }: Pick<AdminDeps, 'settingsInForce'>): Route {
  return route('GET', '/v1/settings', {
    operationId: 'readSettings',
    tag: 'operations',
    summary: 'The settings in force on the node that answers, and where each comes from; secrets are hidden',
    responses: {
      200: answer(
        'All settings',
        exactly({
          node: { type: ['string', 'null'], description: 'The node that answers; null: it is alone.' },
          settings: list(ref('Setting')),
        }),
      ),
    },
    handle: async () => settingsInForce(),
  });
}
