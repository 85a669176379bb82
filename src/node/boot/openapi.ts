import type { BodyRules } from '../../callback/callback-type.js';
import { callbackPaths, callbackSchemas } from '../../callback/openapi.js';
import type { Settings } from '../../config/schema.js';

const TAGS = {
  callbacks: 'Requests of the platform, to a separate listener',
  players: 'Creating, funding, correcting, blocking and reading players',
  transactions: 'Bets and their results',
  feeds: 'Events for other systems',
  operations: 'Health, metrics, snapshots and cluster',
  health: 'For load balancers and supervisors; no token needed',
};

/** OpenAPI document for both listeners. The paths of the callbacks have a server entry of their own. */
export function openapiDocument(
  { host, port, txnsMax, isStrict }: Pick<Settings, 'host' | 'port'> & BodyRules,
  version: string,
  operatorPaths: object,
  operatorSchemas: object,
): object {
  const callbackServer = {
    url: '{scheme}://{host}:{port}',
    description: 'The callback listener',
    variables: {
      scheme: { default: 'http', enum: ['http', 'https'] },
      host: { default: host },
      port: { default: String(port) },
    },
  };
  const callbacks = Object.entries(callbackPaths()).map(([path, item]) => [
    path,
    { servers: [callbackServer], ...item },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'walletd',
      version,
      description: "The operator's side of a game platform's wallet callbacks, and the operator API.",
      license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: '/', description: 'The operator API. It also serves this document' }],
    // No token is required if the settings have none; the listener is then bound to loopback.
    security: [{ operatorToken: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: { ...Object.fromEntries(callbacks), ...operatorPaths },
    components: {
      securitySchemes: { operatorToken: { type: 'http', scheme: 'bearer' } },
      schemas: { ...callbackSchemas({ txnsMax, isStrict }), ...operatorSchemas },
    },
  };
}
