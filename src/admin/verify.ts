import { LosslessNumber } from 'lossless-json';
import { object } from '../base/json-schema.js';
import type { AdminDeps, VerifyBegun, VerifyEnded, VerifyService, VerifySummary } from './admin-deps.js';
import { flag } from './fields.js';
import { answer } from './openapi.js';
import { Problem } from './problem.js';
import { type Route, route } from './route.js';
import { ref } from './schemas.js';

/** Routes that make the node verify its own store, as `walletd verify` does. */
export function verifyRoutes({ verifier }: Pick<AdminDeps, 'verifier'>): Route[] {
  return [
    route('GET', '/v1/verify', {
      operationId: 'readVerification',
      tag: 'operations',
      summary: "Progress of this node's running verification of the store, and the result of the last one",
      responses: { 200: answer('The running verification and the last result', ref('Verification')) },
      handle: async () => body(verifier),
    }),
    route('POST', '/v1/verify', {
      operationId: 'verify',
      tag: 'operations',
      summary: 'Starts a verification of the store, in a separate process',
      body: object({}, { deep: flag }, { additionalProperties: false }),
      responses: { 202: answer('The verification has started', ref('Verification')) },
      problems: [400, 403, 409, 413, 415],
      handle: async ({ body: { deep = false }, operator }, reply) => {
        if (!verifier.begin(operator, deep)) {
          throw new Problem(409, 'a verification is already running: wait until it has ended', 'verify-running');
        }
        reply.status(202);
        return body(verifier);
      },
    }),
  ];
}

function body({ running, last }: VerifyService): object {
  return {
    running: running === undefined ? null : { ...begun(running), done: running.done, total: running.total },
    last: last === undefined ? null : ended(last),
  };
}

function begun({ startedMs, by, isDeep }: VerifyBegun): object {
  return { startedMillis: startedMs, by, deep: isDeep };
}

function ended(last: VerifyEnded): object {
  const { result } = last;
  return {
    ...begun(last),
    endedMillis: last.endedMs,
    failure: result.type === 'failed' ? result.reason : null,
    report: result.type === 'failed' ? null : report(result.summary),
  };
}

function report({ books, ...rest }: VerifySummary): object {
  return {
    ...rest,
    books: books.map(({ currency, players, sums }) => {
      const numbers = Object.entries(sums).map(([line, digits]) => [line, new LosslessNumber(digits)]);
      return { currency, players, ...Object.fromEntries(numbers) };
    }),
  };
}
