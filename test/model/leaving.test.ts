import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { archivableRounds, unchangedRounds } from '../../src/wallet/archiving.js';
import { serializeRound } from '../../src/wallet/state/serialized-round.js';
import { Domain } from '../support/domain.js';
import { arbitraryStep, USERNAMES } from './arbitrary-commands.js';

/*
 * walletd compares times, not bytes, to find out whether a round has changed since it was archived. In random
 * histories, both methods give the same result. MODEL_RUNS lengthens the run.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 3000);
const OPENING_BALANCE = 1000;

test('a round counts as unchanged exactly when its serialized bytes are the same', () => {
  const changed = { count: 0 };
  const steps = (most: number) => fc.array(arbitraryStep, { minLength: 1, maxLength: most, size: 'max' });
  fc.assert(
    fc.property(steps(25), steps(10), fc.constantFrom(0, 1), (before, after, elapsedMs) => {
      const domain = new Domain();
      for (const username of USERNAMES) domain.fund(username, OPENING_BALANCE);
      const run = (step: (typeof before)[number]) => {
        if (step.type === 'callback') domain.run(step.command);
        else if (step.type === 'restart') domain.restart();
      };
      for (const step of before) run(step);
      domain.nowMs++;
      const beforeMs = domain.nowMs;
      const looked = USERNAMES.map((username) => {
        return { username, rounds: archivableRounds(domain.wallet(username), beforeMs, 0, 100) };
      });
      for (const step of after) {
        run(step);
        domain.nowMs += elapsedMs;
        for (const { username, rounds } of looked) {
          const wallet = domain.wallet(username);
          const reported = unchangedRounds(wallet, rounds, beforeMs);
          const same = rounds.filter(({ productId, roundId, image }) => {
            const round = wallet.round(productId, roundId);
            return round !== undefined && serializeRound(wallet, round).equals(image);
          });
          changed.count += rounds.length - same.length;
          assert.deepEqual(
            reported,
            same.map(({ productId, roundId }) => ({ productId, roundId })),
          );
        }
      }
    }),
    { numRuns: RUNS / 3 },
  );
  assert.ok(changed.count > RUNS / 100, `${changed.count} rounds had changed`);
});
