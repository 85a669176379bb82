import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FAILURES } from '../../src/callback/failures.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { CallbackCommand } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Answer } from '../../src/wallet/decision.js';
import { Domain } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';
import { arbitraryCallback, arbitraryRules } from './arbitrary-commands.js';

/*
 * Tests a property that needs no model (docs/decisions.md section 3): an acknowledged message that is sent again at any
 * later time moves no money. REPEATS_RUNS sets the number of histories, and REPEATS_SEED repeats a run. A failure
 * prints its seed and the shortest history.
 */
const RUNS = Number(process.env.REPEATS_RUNS ?? 2000);
const SEED = process.env.REPEATS_SEED;
const PLAYER = 'ann';
/** Codes for a repeat whose transaction has changed state since its first answer. */
const HAPPENED_SINCE = [20002, 20003, 20004];
const DEFAULT_RULES = rulesOf(settingsWith());

interface Step {
  readonly command: CallbackCommand;
  /** If not 0, sends the content of an earlier message under a new request id instead of the command. */
  readonly anew: number;
  /** Messages to send again after the command, as distances back from it. */
  readonly again: readonly number[];
  /** Number of closed rounds that leave memory after the command. */
  readonly leave: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  command: arbitraryCallback,
  anew: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) }),
  again: fc.array(fc.oneof(fc.nat(3), fc.nat(30)), { minLength: 0, maxLength: 3 }),
  leave: fc.constantFrom(0, 0, 0, 1, 100),
});

/**
 * Rules with small limits. At the limit on remembered messages, walletd refuses a new message and forgets no old one.
 */
const rules: fc.Arbitrary<Rules> = fc.oneof(
  fc.constant(DEFAULT_RULES),
  arbitraryRules(DEFAULT_RULES).map((any) => ({
    ...any,
    sessionToken: 'ignore' as const,
  })),
);

interface Sent {
  readonly command: CallbackCommand;
  readonly answer: Extract<Answer, { type: 'accepted' }>;
}

test('an acknowledged message sent again moves nothing at any later time', (t) => {
  let repeats = 0;
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), rules, (steps, rules) => {
    const domain = new Domain(rules);
    domain.fund(PLAYER, 1000);
    const sent: CallbackCommand[] = [];
    const acknowledged: Sent[] = [];
    for (const [n, { command: drawn, anew, again, leave }] of steps.entries()) {
      const earlier = sent[sent.length - anew] ?? drawn;
      const command = { ...earlier, id: `q${n}`, username: PLAYER, currency: 'THB', timestampMillis: 1000 + n };
      sent.push(command);
      const { answer } = domain.runRecalling(command);
      if (answer.type === 'accepted') acknowledged.push({ command, answer });
      domain.letGo(leave);
      for (const back of again) {
        const first = acknowledged[acknowledged.length - 1 - back];
        if (first === undefined) continue;
        repeats++;
        sendAgain(domain, first);
      }
    }
  });
  const options = { numRuns: RUNS, includeErrorInReport: true };
  fc.assert(property, SEED === undefined ? options : { ...options, seed: Number(SEED) });
  t.diagnostic(`${repeats} repeats`);
});

function sendAgain(domain: Domain, { command, answer: first }: Sent): void {
  const { balance } = domain.wallet(PLAYER);
  const { answer, event } = domain.runRecalling(command);
  assert.equal(domain.wallet(PLAYER).balance, balance, 'the balance stays');
  assert.equal(event, undefined, 'nothing is written');
  if (answer.type === 'failed') assert.ok(HAPPENED_SINCE.includes(FAILURES[answer.failure].statusCode), answer.failure);
  else assert.deepEqual([answer.before, answer.after], [first.before, first.after]);
}
