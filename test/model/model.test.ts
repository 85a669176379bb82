import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FAILURES } from '../../src/callback/failures.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import {
  type ReferenceAnswer,
  type ReferencePlayer,
  ReferenceWallet,
} from '../../src/simulate/model/reference-wallet.js';
import type { CallbackCommand, Command } from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { type Books, post, total } from '../../src/wallet/ledger.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { auditTables, imagesOf } from '../support/audit.js';
import { Domain, throughSnapshot } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';
import { arbitraryRules, arbitraryStep, type Step, USERNAMES, varied } from './arbitrary-commands.js';
import { FeedConsumer } from './feed-consumer.js';

/*
 * Compares random histories of all operations with the naive reference wallet. MODEL_RUNS sets the number of histories,
 * and MODEL_SEED repeats a run. A failure prints its seed and the shortest history that still fails. The test reports
 * how many callbacks were compared.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 2100);
const SEED = process.env.MODEL_SEED;
const OPENING_BALANCE = 100;
const DAY_MS = 86_400_000;
const DEFAULT_RULES = rulesOf(settingsWith());

/** Number of each player's rounds to archive after each step; empty if there is no archive. */
const arbitraryMoves = fc.oneof(fc.constant([]), fc.array(fc.constantFrom(0, 0, 1, 2, 100), { minLength: 1 }));

function recallAll(domain: Domain): void {
  for (const username of USERNAMES) domain.recall(username, () => true);
}

function options<T>(runs: number): fc.Parameters<T> {
  return SEED === undefined ? { numRuns: runs } : { numRuns: runs, seed: Number(SEED) };
}

test('answers, balances, states, logs, feed and snapshots equal those of the reference wallet', (t) => {
  let callbacks = 0;
  fc.assert(
    fc.property(
      fc.array(arbitraryStep, { minLength: 1, maxLength: 60, size: 'max' }),
      fc.oneof(fc.constant(DEFAULT_RULES), arbitraryRules(DEFAULT_RULES)),
      arbitraryMoves,
      (steps, anyRules, moves) => {
        // Raise the limit on tombstones, because archived ones are not counted.
        const rules = moves.length === 0 ? anyRules : { ...anyRules, tombstonesMax: 1000 };
        const domain = new Domain(rules);
        const reference = new ReferenceWallet(rules);
        const consumer = new FeedConsumer(reference);
        for (const username of USERNAMES) {
          domain.fund(username, OPENING_BALANCE);
          reference.create(username, 'THB', OPENING_BALANCE);
        }
        const past: CallbackCommand[] = [];
        for (const [n, step] of steps.entries()) {
          consumer.note();
          if (runStep(domain, reference, step, past)) callbacks++;
          domain.letGo(moves[n % moves.length] ?? 0);
        }
        consumer.note();
        consumer.check(domain);
        recallAll(domain);
        for (const username of USERNAMES) compareStates(domain, reference, username, true);
        checkReplay(domain);
        checkBooks(domain);
      },
    ),
    { ...options(RUNS), includeErrorInReport: true },
  );
  t.diagnostic(`${callbacks} callbacks`);
});

test('a wallet that has forgotten rounds answers like one that never had them', () => {
  const callbacks = fc
    .array(arbitraryStep, { minLength: 30, maxLength: 120, size: 'max' })
    .map((steps) => steps.flatMap((step) => (step.type === 'callback' ? [step.command] : [])));
  fc.assert(
    fc.property(callbacks, fc.nat(60), (played, days) => {
      const domain = new Domain();
      for (const username of USERNAMES) domain.fund(username, OPENING_BALANCE);
      for (const [n, command] of played.entries()) {
        domain.run(numbered(command, n));
        domain.nowMs += DAY_MS;
      }
      for (const username of USERNAMES) {
        domain.run({ type: 'forget', username, beforeMs: domain.nowMs - days * DAY_MS });
      }
      let count = 0;
      for (const wallet of domain.wallets) {
        checkWallet(wallet);
        assert.equal(wallet.transactionCount, [...wallet.transactions()].length);
        count += wallet.transactionCount;
      }
      assert.equal(domain.wallets.transactionCount, count);
      const built = new Domain();
      built.wallets = throughSnapshot(domain.wallets);
      built.nowMs = domain.nowMs;
      for (const [n, command] of played.entries()) {
        assert.deepStrictEqual(domain.run(numbered(command, n)), built.run(numbered(command, n)));
      }
      assert.deepStrictEqual(imagesOf(built.wallets), imagesOf(domain.wallets));
    }),
    options(RUNS / 3),
  );
});

/** The command with more distinct ids and rounds than arbitrary commands have, so that wallets become long. */
function numbered(command: CallbackCommand, n: number): CallbackCommand {
  const more = n % 7;
  const txns = command.txns.map((txn) => ({ ...txn, id: `${txn.id}${more}`, roundId: `${txn.roundId}${more}` }));
  return { ...command, txns } as CallbackCommand;
}

/** Runs one step. Returns true if the step sent a callback to both sides and compared the answers. */
function runStep(domain: Domain, reference: ReferenceWallet, step: Step, past: CallbackCommand[]): boolean {
  switch (step.type) {
    case 'callback':
      past.push(step.command);
      return compare(domain, reference, step.command);
    case 'balance':
      compareAnswers(domain, step.command, reference.balance(step.command, domain.nowMs));
      compareStatesOf(domain, reference, step.command.username);
      return true;
    case 'again': {
      const command = past[past.length - step.back];
      return command !== undefined && compare(domain, reference, command);
    }
    case 'vary': {
      const earlier = past[past.length - step.back];
      const command = earlier && varied(earlier, step.element, step.change);
      if (command === undefined) return false;
      past.push(command);
      return compare(domain, reference, command);
    }
    case 'withdraw-all': {
      const player = reference.players.get(step.username) as ReferencePlayer;
      if (player.balance <= 0) return false;
      domain.run({ type: 'withdraw', id: `w${domain.events.length}`, username: step.username, amount: player.balance });
      player.balance = 0;
      player.version++;
      return false;
    }
    case 'block':
    case 'unblock': {
      const before = domain.events.length;
      domain.run({ type: `${step.type}-player`, username: step.username, by: step.by });
      const player = reference.players.get(step.username) as ReferencePlayer;
      player.blocked = step.type === 'block';
      player.version += domain.events.length - before;
      return false;
    }
    case 'session': {
      const { username, digest, endMs } = step;
      const session = digest === undefined ? undefined : { digest, endMs };
      const before = domain.events.length;
      domain.run(
        session === undefined ? { type: 'end-session', username } : { type: 'set-session', username, session },
      );
      const player = reference.players.get(username) as ReferencePlayer;
      player.session = session;
      player.version += domain.events.length - before;
      return false;
    }
    case 'correct':
      compareAnswers(domain, step.command, reference.correct(step.command));
      compareStatesOf(domain, reference, step.command.username);
      return false;
    case 'tomorrow':
      domain.nowMs += DAY_MS;
      return false;
    case 'restart':
      domain.restart();
      return false;
  }
}

function compare(domain: Domain, reference: ReferenceWallet, command: CallbackCommand): true {
  compareAnswers(domain, command, reference.answer(command, domain.nowMs));
  compareStatesOf(domain, reference, command.username);
  return true;
}

/**
 * Compares the command's player on both sides. Effects on other players are detected at their next command or at the
 * end.
 */
function compareStatesOf(domain: Domain, reference: ReferenceWallet, username: string): void {
  if (!USERNAMES.includes(username)) return;
  // Sometimes restore all rounds first, to check that each round is in memory or in the archive.
  const isWhole = domain.events.length % 3 === 0;
  if (isWhole) domain.recall(username, () => true);
  compareStates(domain, reference, username, isWhole);
}

function compareStates(domain: Domain, reference: ReferenceWallet, username: string, isWhole: boolean): void {
  const wallet = domain.wallet(username);
  checkWallet(wallet);
  const player = reference.players.get(username) as ReferencePlayer;
  const { balance, version, blocked } = wallet;
  const expected = [
    player.balance,
    player.version,
    player.blocked,
    ...(isWhole ? transactionsOfReference(player) : []),
  ];
  const moves = domain.moves.get(username) ?? 0;
  const actual = [balance, version - moves, blocked, ...(isWhole ? transactionsOf(wallet) : [])];
  // Compare shallowly first, because deep comparisons take longer than the rest of the test.
  if (expected.length === actual.length && expected.every((fact, i) => Object.is(fact, actual[i]))) return;
  assert.deepStrictEqual(actual, expected);
}

function compareAnswers(domain: Domain, command: Command, expected: ReferenceAnswer): void {
  const { answer } = domain.runRecalling(command);
  const actual =
    answer.type === 'accepted'
      ? { code: 0, before: answer.before, after: answer.after }
      : { code: FAILURES[answer.failure].statusCode };
  assert.deepStrictEqual(actual, expected);
  if (answer.type === 'accepted' && domain.rules.duplicates === 'replay') {
    const wallet = domain.wallet(command.username);
    const again = decide(wallet, command, domain.rules, domain.nowMs);
    const isRepeat = command.type !== 'checkBalance';
    assert.deepStrictEqual(again.answer, { ...answer, isRepeat }, 'what was accepted is answered the same again');
    assert.equal(again.event, undefined);
  }
}

type Fact = string | number | boolean;

/**
 * A transaction in comparable form. Both sides are sorted by kind, product, round and id, which together are unique.
 */
type Row = readonly [kind: string, product: string, round: string, id: string, ...facts: Fact[]];

function transactionsOf(wallet: Wallet): Fact[] {
  const rows: Row[] = [];
  for (const item of wallet.transactions()) {
    const { kind, state, id, round, held, paid } = item;
    if (kind === 'mark') continue;
    const amount = kind === 'settlement' ? (item.payout as number) : item.stake;
    rows.push([kind, round.productId, round.id, id, state, amount, held, paid]);
  }
  return inOrder(rows);
}

function transactionsOfReference({ bets, settlements, rewards, movements }: ReferencePlayer): Fact[] {
  const rows: Row[] = [];
  for (const { kind, product, round, id, state, stake, held, paid } of bets)
    rows.push([kind, product, round, id, state, stake, held, paid]);
  for (const { product, round, id, state, payout, paid } of settlements)
    rows.push(['settlement', product, round, id, state, payout, 0, paid]);
  for (const { product, round, id, state, payout, paid } of rewards)
    rows.push(['reward', product, round, id, state, payout, 0, paid]);
  for (const { product, ref, status, entries } of movements) {
    const amount = entries[0]?.amount ?? 0;
    const moved = status === 'DEBIT' ? [amount, 0] : [0, amount];
    rows.push([status.toLowerCase(), product, ref, ref, 'SETTLED', amount, ...moved]);
  }
  return inOrder(rows);
}

function inOrder(rows: Row[]): Fact[] {
  const nameOf = ([kind, product, round, id]: Row) => `${kind} ${product} ${round} ${id}`;
  return rows.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).flat();
}

/**
 * Checks that replaying the log rebuilds the wallets, that a snapshot restores them, and that their memory is
 * consistent.
 */
function checkReplay(domain: Domain): void {
  const replayed = domain.replayed();
  const images = imagesOf(replayed);
  assert.deepStrictEqual(images, imagesOf(domain.wallets));
  const restarted = throughSnapshot(replayed);
  assert.deepStrictEqual(imagesOf(restarted), images);
  for (const wallets of [replayed, restarted, domain.wallets]) auditTables(wallets);
}

/** Checks the ledger: the sum of all balances equals the sum of all movements, including held stakes and payouts. */
function checkBooks(domain: Domain): void {
  const books: Books = new Map();
  for (const event of domain.events) post(books, event);
  const balances = [...domain.wallets].reduce((sum, wallet) => sum + BigInt(wallet.balance), 0n);
  assert.equal(total(books), balances);
}
