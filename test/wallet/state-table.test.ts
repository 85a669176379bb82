import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { Command } from '../../src/wallet/command.js';
import { checkWallet } from '../../src/wallet/invariants.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { commands, Domain } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

/*
 * Checks the table of results for every transaction state and operation. The table is generated from the code and
 * stored as text, so that a change of behaviour is visible in a review. REWRITE=1 regenerates it.
 */
const FILE = new URL('../../../test/wallet/state-table.txt', import.meta.url);

const { place, settle, adjust, void: voided, cancel, tip, placeTip, reward, movement, rollback } = commands;
const t = { id: 't' };
const CREDITED = 'tip, credited';
const RULES = rulesOf(settingsWith());

/**
 * By state: the commands that bring transaction `t` of round `r1` (stake 10, payout 15) into it, from a balance of 100.
 */
const STATES: Readonly<Record<string, readonly Command[]>> = {
  'unknown id, unknown round': [],
  'unknown id, round OPEN': [place([{ id: 'other' }])],
  OPEN: [place([t])],
  'OPEN, skipped': [place([{ ...t, skipBalanceUpdate: true }])],
  'OPEN, adjusted to 12': [place([t]), adjust([{ ...t, betAmount: 12 }], { id: 'adj' })],
  'OPEN, after WAITING': [place([{ ...t, status: 'WAITING' }]), place([t])],
  WAITING: [place([{ ...t, status: 'WAITING' }])],
  'WAITING, skipped': [place([{ ...t, status: 'WAITING', skipBalanceUpdate: true }])],
  SETTLED: [place([t]), settle([t])],
  'SETTLED, never opened': [place([{ ...t, status: 'WAITING' }]), settle([t])],
  'SETTLED, stake skipped': [place([{ ...t, skipBalanceUpdate: true }]), settle([t])],
  'SETTLED, payout skipped': [place([t]), settle([{ ...t, skipBalanceUpdate: true }])],
  'SETTLED, round ended': [place([t]), settle([{ ...t, isEndRound: true }])],
  'SETTLED by its round (s)': [place([t]), settle([{ id: 's', byRound: true }])],
  'SETTLED by its round (s), skipped': [place([t]), settle([{ id: 's', byRound: true, skipBalanceUpdate: true }])],
  'SETTLED single-state': [settle([{ ...t, isSingleState: true }])],
  'SETTLED single-state, skipped': [settle([{ ...t, isSingleState: true, skipBalanceUpdate: true }])],
  VOID: [place([t]), settle([t]), voided([t])],
  'VOID by its round (v)': [place([t]), settle([t]), voided([{ id: 'v', byRound: true }])],
  'VOID, settled by its round (s)': [place([t]), settle([{ id: 's', byRound: true }]), voided([t])],
  'VOID single-state': [settle([{ ...t, isSingleState: true }]), voided([t])],
  REFUND: [place([t]), cancel([t])],
  'REFUND by its round (c)': [place([t]), cancel([{ id: 'c', byRound: true }])],
  REJECT: [place([{ ...t, status: 'WAITING' }]), cancel([{ ...t, status: 'REJECT' }])],
  tombstone: [cancel([t])],
  'OPEN since a rollback of SETTLED (undone)': [
    place([t], { id: 'first' }),
    settle([t], { id: 'undone' }),
    rollback([t], { id: 'back' }),
  ],
  'OPEN since a rollback of REFUND (undone)': [
    place([t], { id: 'first' }),
    cancel([t], { id: 'undone' }),
    rollback([t], { id: 'back' }),
  ],
  'OPEN since a rollback of REFUND, skipped': [
    place([t], { id: 'first' }),
    cancel([t], { id: 'undone' }),
    rollback([{ ...t, skipBalanceUpdate: true }], { id: 'back' }),
  ],
  'WAITING since a rollback': [
    place([{ ...t, status: 'WAITING' }], { id: 'first' }),
    settle([t], { id: 'undone' }),
    rollback([t], { id: 'back' }),
  ],
  'OPEN since a rollback of its round (s)': [
    place([t], { id: 'first' }),
    settle([{ id: 's', byRound: true, isEndRound: true }], { id: 'undone' }),
    rollback([{ id: 'x', byRound: true }], { id: 'back' }),
  ],
  'OPEN since a rollback of its REFUND (c)': [
    place([t], { id: 'first' }),
    cancel([{ id: 'c', byRound: true }], { id: 'undone' }),
    rollback([{ id: 'x', byRound: true }], { id: 'back' }),
  ],
  'OPEN single-state, since a rollback': [
    settle([{ ...t, isSingleState: true }], { id: 'undone' }),
    rollback([t], { id: 'back' }),
  ],
  'SETTLED again': [
    place([t], { id: 'first' }),
    settle([t], { id: 'undone' }),
    rollback([t], { id: 'back' }),
    settle([t], { id: 'again' }),
  ],
  'SETTLED single-state, again by its id': [
    settle([{ ...t, isSingleState: true }], { id: 'undone' }),
    rollback([t], { id: 'back' }),
    settle([t], { id: 'again' }),
  ],
  'tip, TIPS since a rollback (undone)': [
    placeTip([t], { id: 'first' }),
    tip([t], { id: 'undone' }),
    rollback([t], { id: 'back' }),
  ],
  [CREDITED]: [tip([t])],
  'tip, TIPS': [placeTip([t])],
  'tip, TIPS, skipped': [placeTip([{ ...t, skipBalanceUpdate: true }])],
  'tip, REFUND': [placeTip([t]), tip([t])],
  'only a reward': [reward([t])],
  'only a reward, and a tombstone': [reward([t]), cancel([t])],
  'only a reward, VOID': [reward([t]), voided([t])],
  'SETTLED, and a reward': [place([t]), settle([t]), reward([t])],
  'only a debit': [movement([t])],
  'only a credit': [movement([{ ...t, status: 'CREDIT' }])],
  'round marked, no bet': [cancel([{ id: 'c', byRound: true }])],
};

const OPERATIONS: Readonly<Record<string, Command>> = {
  'place OPEN': place([t]),
  'place OPEN, other amount': place([{ ...t, betAmount: 11 }]),
  'place OPEN, skip': place([{ ...t, skipBalanceUpdate: true }]),
  'place WAITING': place([{ ...t, status: 'WAITING' }]),
  'place another id': place([{ id: 'new' }]),
  settle: settle([t]),
  'settle, other payout': settle([{ ...t, payoutAmount: 16 }]),
  'settle, skip': settle([{ ...t, skipBalanceUpdate: true }]),
  'settle round (s)': settle([{ id: 's', byRound: true }]),
  'settle round (s2)': settle([{ id: 's2', byRound: true }]),
  'single-state': settle([{ ...t, isSingleState: true }]),
  'single-state, other payout': settle([{ ...t, isSingleState: true, payoutAmount: 16 }]),
  'adjust to 20': adjust([{ ...t, betAmount: 20 }], { id: 'new' }),
  'adjust to 12 again (adj)': adjust([{ ...t, betAmount: 12 }], { id: 'adj' }),
  void: voided([t]),
  'void round (v)': voided([{ id: 'v', byRound: true }]),
  'void round (v2)': voided([{ id: 'v2', byRound: true }]),
  'cancel REFUND': cancel([t]),
  'cancel REJECT': cancel([{ ...t, status: 'REJECT' }]),
  'cancel round (c)': cancel([{ id: 'c', byRound: true }]),
  'cancel round (c2)': cancel([{ id: 'c2', byRound: true }]),
  'cancel tip': tip([t]),
  rollback: rollback([t], { id: 'new' }),
  'rollback, skip': rollback([{ ...t, skipBalanceUpdate: true }], { id: 'new' }),
  'rollback round': rollback([{ id: 'x', byRound: true }], { id: 'new' }),
  'rollback again (back)': rollback([t], { id: 'back' }),
  'settle again (undone)': settle([t], { id: 'undone' }),
  'settle round again (undone)': settle([{ id: 's', byRound: true }], { id: 'undone' }),
  'cancel again (undone)': cancel([t], { id: 'undone' }),
  'cancel round again (undone)': cancel([{ id: 'c', byRound: true }], { id: 'undone' }),
  'place tip': placeTip([t]),
  'place tip, other amount': placeTip([{ ...t, betAmount: 11 }]),
  'place tip, skip': placeTip([{ ...t, skipBalanceUpdate: true }]),
  reward: reward([t]),
  'reward, other payout': reward([{ ...t, payoutAmount: 16 }]),
  'debit 10': movement([t]),
  'debit 11': movement([{ ...t, amount: 11 }]),
  'credit 10': movement([{ ...t, status: 'CREDIT' }]),
};

function table(): string {
  const lines = [
    `${'state of transaction t'.padEnd(43) + 'operation'.padEnd(28) + 'code   balance'.padEnd(24)}state after`,
  ];
  for (const [state, history] of Object.entries(STATES)) {
    for (const [operation, command] of Object.entries(OPERATIONS)) {
      const domain = new Domain(state === CREDITED ? { ...RULES, tipsUnknown: 'credit' } : RULES);
      domain.fund('ann', 100);
      for (const step of history) domain.run(step);
      const before = domain.wallet('ann').balance;
      const { answer } = domain.run(command);
      const after = domain.wallet('ann').balance;
      checkWallet(domain.wallet('ann'));
      const code = answer.type === 'accepted' ? 0 : domain.statusCode(command);
      const moved = after - before;
      const repeat =
        answer.type === 'accepted' && answer.isRepeat ? `repeat of ${answer.before} -> ${answer.after}` : '';
      const effect = repeat || (moved === 0 ? '' : `${moved > 0 ? '+' : ''}${moved}`);
      lines.push(
        [state.padEnd(42), operation.padEnd(27), `${String(code).padEnd(6)} ${effect}`.padEnd(23), describe(domain)]
          .join(' ')
          .trimEnd(),
      );
    }
    lines.push('');
  }
  return lines.join('\n');
}

/** Describes transaction `t` and whether its round is marked. */
function describe(domain: Domain): string {
  const wallet = domain.wallet('ann');
  const bet = wallet.bet('P1', 't');
  const round = wallet.round('P1', 'r1');
  const parts: string[] = [];
  if (bet !== undefined) parts.push(bet.kind === 'bet' || bet.state === 'TIPS' ? bet.state : bet.kind);
  if (bet !== undefined && bet.held > 0) parts.push(`held ${bet.held}`);
  const paid = (bet?.paid ?? 0) + (round?.stillPaid() ?? []).reduce((sum, amount) => sum + amount, 0);
  if (paid > 0) parts.push(`paid ${paid}`);
  const rewarded = wallet.reward('P1', 't');
  if (rewarded !== undefined) parts.push(rewarded.state === 'VOID' ? 'reward VOID' : `reward ${rewarded.paid}`);
  if ((round?.markMs ?? -1) >= 0) parts.push('marked');
  return parts.join(', ');
}

test('the table of every state and operation is unchanged', () => {
  const text = table();
  if (process.env.REWRITE === '1') writeFileSync(FILE, text);
  assertSameLines(text, readFileSync(FILE, 'utf8'));
});
