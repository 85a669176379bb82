import { STATUS_CODES } from 'node:http';
import { asPublished } from '../base/json-schema.js';
import { CALLBACKS } from './callbacks.js';
import { FAILURES } from './failures.js';
import { failureSchema, successSchema } from './response-codec.js';

/** Asked for where the settings have keys. */
const SIGNATURE = [
  {
    name: 'sapi-timestamp',
    in: 'header',
    schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
    description: 'When it was signed: milliseconds since 1970.',
  },
  {
    name: 'sapi-signature',
    in: 'header',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
    description: 'hex(HMAC-SHA256(secret, body + "." + sapi-timestamp)).',
  },
];

/** The callbacks as OpenAPI paths, of the schemas that the listener checks requests and writes answers with. */
export function callbackPaths(txnsMax: number): Record<string, object> {
  return Object.fromEntries(
    Object.entries(CALLBACKS).map(([endpoint, { summary, schema }]) => [
      `/${endpoint}`,
      {
        post: {
          operationId: endpoint,
          tags: ['callbacks'],
          summary,
          security: [],
          parameters: SIGNATURE,
          requestBody: { required: true, content: json(asPublished(schema(txnsMax))) },
          responses: responses(),
        },
      },
    ]),
  );
}

/** Business failures come with HTTP 200 as well. */
function responses(): Record<string, object> {
  const statuses = new Set(Object.values(FAILURES).map(({ httpStatus }) => httpStatus));
  const success = schemaOf(successSchema, ['accepted']);
  return Object.fromEntries(
    [...statuses].sort().map((status) => {
      const names = Object.entries(FAILURES).filter(([, { httpStatus }]) => httpStatus === status);
      const failure = schemaOf(
        failureSchema,
        names.map(([name]) => name),
      );
      return [
        status,
        {
          description: [STATUS_CODES[status], ...names.map(([, row]) => `${row.statusCode}: ${row.sentence}`)].join(
            '; ',
          ),
          ...(status === 503 && { headers: { 'Retry-After': { schema: { type: 'string' } } } }),
          content: json(status === 200 ? { oneOf: [success, failure] } : failure),
        },
      ];
    }),
  );
}

/** An answer whose statusCode is one of these outcomes'. */
function schemaOf(schema: object, outcomes: readonly string[]): object {
  const codes = outcomes.map((name) => (name === 'accepted' ? 0 : FAILURES[name as keyof typeof FAILURES].statusCode));
  const { properties, ...rest } = asPublished(schema) as { properties: object };
  const statusCode = { type: 'integer', enum: [...new Set(codes)] };
  return { ...rest, properties: { ...properties, statusCode }, additionalProperties: false };
}

function json(schema: object): object {
  return { 'application/json': { schema } };
}
