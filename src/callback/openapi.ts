import { STATUS_CODES } from 'node:http';
import { asPublished } from '../base/json-schema.js';
import type { AnswerShape, BodyRules } from './callback-type.js';
import { CALLBACKS } from './callbacks.js';
import { CALLBACK_FAILURES, FAILURES } from './failures.js';
import { balanceSchema, failureSchema, malformedSchema, successSchema } from './response-codec.js';

/** Headers that are required if signature keys are configured. */
const SIGNATURE = [
  {
    name: 'sapi-timestamp',
    in: 'header',
    schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
    description: 'Time of the signature, in milliseconds since 1970.',
  },
  {
    name: 'sapi-signature',
    in: 'header',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
    description: 'hex(HMAC-SHA256(secret, body + "." + sapi-timestamp)).',
  },
];

/** The OpenAPI paths of the callbacks. */
export function callbackPaths(): Record<string, object> {
  const answers = { balances: responses('balances'), balance: responses('balance') };
  return Object.fromEntries(
    Object.entries(CALLBACKS).map(([endpoint, { summary, example, answer }]) => [
      `/${endpoint}`,
      {
        post: {
          operationId: endpoint,
          tags: ['callbacks'],
          summary,
          security: [],
          parameters: SIGNATURE,
          requestBody: { required: true, content: json(ref(nameOf(endpoint)), example) },
          responses: answers[answer],
        },
      },
    ]),
  );
}

/**
 * The named schemas to which the paths refer. The listener uses the same schemas to check requests and write answers.
 */
export function callbackSchemas(rules: BodyRules): Record<string, object> {
  const requests = Object.entries(CALLBACKS).map(([endpoint, { schema }]) => [
    nameOf(endpoint),
    asPublished(schema(rules)),
  ]);
  return {
    ...Object.fromEntries(requests),
    CallbackSuccess: schemaOf(successSchema, ['accepted']),
    CallbackBalance: schemaOf(balanceSchema, ['accepted']),
  };
}

/** The schema's name: `PlaceBets` for placeBets. */
function nameOf(endpoint: string): string {
  return endpoint.charAt(0).toUpperCase() + endpoint.slice(1);
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const SUCCESS = {
  id: 'req-1',
  statusCode: 0,
  timestampMillis: 1_795_000_000_020,
  productId: 'SLOTS',
  currency: 'THB',
};
const SUCCESSES: Readonly<Record<AnswerShape, { readonly schema: string; readonly example: object }>> = {
  balances: {
    schema: 'CallbackSuccess',
    example: { ...SUCCESS, balanceBefore: 1000, balanceAfter: 990, username: 'ann' },
  },
  balance: { schema: 'CallbackBalance', example: { ...SUCCESS, balance: 1000, username: 'ann' } },
};

/** The reason is optional here, because it is absent with `callbacks.reason: false`. */
const REASONED = { ...malformedSchema, required: failureSchema.required };

/** Responses by HTTP status. Business failures have the HTTP status 200, like successful answers. */
function responses(answer: AnswerShape): Record<string, object> {
  const { schema, example } = SUCCESSES[answer];
  const statuses = new Set(Object.values(CALLBACK_FAILURES).map(({ httpStatus }) => httpStatus));
  return Object.fromEntries(
    [...statuses].sort().map((status) => {
      const names = Object.entries(CALLBACK_FAILURES).filter(([, { httpStatus }]) => httpStatus === status);
      const failure = schemaOf(
        names.some(([name]) => name === 'malformed') ? REASONED : failureSchema,
        names.map(([name]) => name),
      );
      return [
        status,
        {
          description: [STATUS_CODES[status], ...names.map(([, row]) => `${row.statusCode}: ${row.sentence}`)].join(
            '; ',
          ),
          ...(status === 503 && { headers: { 'Retry-After': { schema: { type: 'string' } } } }),
          content: status === 200 ? json({ oneOf: [ref(schema), failure] }, example) : json(failure),
        },
      ];
    }),
  );
}

/** The schema of an answer with one of these outcomes, which determine its statusCode. */
function schemaOf(schema: object, outcomes: readonly string[]): object {
  const codes = outcomes.map((name) => (name === 'accepted' ? 0 : FAILURES[name as keyof typeof FAILURES].statusCode));
  const { properties, ...rest } = asPublished(schema) as { properties: object };
  const statusCode = { type: 'integer', enum: [...new Set(codes)] };
  return { ...rest, properties: { ...properties, statusCode }, additionalProperties: false };
}

function json(schema: object, example?: object): object {
  return { 'application/json': { schema, ...(example && { example }) } };
}
