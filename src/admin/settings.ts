import type { AdminDeps } from './admin-deps.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { exactly, list, ref } from './schemas.js';

/** A route that lists the settings in force. Secrets are already redacted. */
export function settingsRoute({ settingsInForce }: Pick<AdminDeps, 'settingsInForce'>): Route {
  return route('GET', '/v1/settings', {
    operationId: 'readSettings',
    tag: 'operations',
    summary: 'The settings in force on this node and their sources; secrets are hidden',
    responses: {
      200: answer(
        'All settings',
        exactly({
          node: {
            type: ['string', 'null'],
            description: 'The node that sent this answer; null: the node is not in a cluster.',
          },
          settings: list(ref('Setting')),
        }),
      ),
    },
    handle: async () => settingsInForce(),
  });
}
