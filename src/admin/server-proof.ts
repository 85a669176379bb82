import type { FastifyInstance } from 'fastify';
import { object, string } from '../base/json-schema.js';
import { PROOF_PATH } from '../listener/token-proof.js';
import type { Authentication } from './authentication.js';

const BASE64URL = '^[\\w-]{43}$';
const body = object(
  {
    nonce: string({ pattern: BASE64URL, message: 'must be 32 random bytes in base64url' }),
    proof: string({ pattern: BASE64URL, message: 'must be a proof of the nonce' }),
  },
  {},
  { additionalProperties: false },
);

/**
 * Adds the route where a tool requests proof that this server knows its token, before it sends the token; see
 * `TokenProof`.
 */
export function addServerProof(app: FastifyInstance, authentication: Authentication): void {
  app.post<{ Body: { nonce: string; proof: string } }>(
    PROOF_PATH,
    { config: { route: `POST ${PROOF_PATH}`, isOpen: true }, schema: { body } },
    async (request) => authentication.prove(request, request.body),
  );
}
