import { readFileSync } from 'node:fs';
import type * as reference from '../../../src/tools/simulate/model/reference-wallet.js';
import type { RuleName } from '../../../src/tools/simulate/rules.js';
import type * as operator from './reference-operator.js';

/** A bug: one place of the text of the wallet, or of the operator around it, is another one. */
export interface Mutant {
  /** Whose cases must find it. */
  readonly rule: RuleName;
  readonly bug: string;
  readonly in: 'wallet' | 'operator';
  /** As it is after compilation. */
  readonly from: string;
  readonly to: string;
  /** Which of its places, where there are several. */
  readonly nth?: number;
}

type Row = readonly [rule: RuleName, bug: string, from: string, to: string, nth?: number];

const WALLET: readonly Row[] = [
  ['stake', 'a bet is not held against the balance', 'player.balance < txn.betAmount', 'false', 0],
  ['stake', 'the whole balance cannot be bet', 'player.balance < txn.betAmount', 'player.balance <= txn.betAmount', 0],
  ['stake', 'a bet takes nothing', 'fresh.held = skip ? 0 : txn.betAmount', 'fresh.held = 0'],
  ['skip', 'a bet that skips is taken', 'fresh.held = skip ? 0 : txn.betAmount', 'fresh.held = txn.betAmount'],
  ['skip', 'a refund gives the stake, whatever was taken', 'const moved = bet.held;', 'const moved = bet.stake;'],
  [
    'skip',
    'a settle that skips pays',
    'this.move(player, skip ? 0 : txn.payoutAmount, version, bet',
    'this.move(player, txn.payoutAmount, version, bet',
  ],
  [
    'skip',
    'the adjustment of a bet that skipped takes',
    'bet.taken ? bet.held - txn.betAmount : 0',
    'bet.held - txn.betAmount',
  ],
  [
    'skip',
    'a settle of a round that skips pays',
    'const moved = skip ? 0 : txn.payoutAmount;',
    'const moved = txn.payoutAmount;',
  ],
  [
    'waiting',
    'a confirmation takes the stake again',
    'const moved = takes ? -bet.stake : 0;',
    'const moved = -bet.stake;',
  ],
  [
    'waiting',
    'a confirmation takes nothing that was left',
    'const takes = alive && !skip && !bet.taken;',
    'const takes = false;',
  ],
  ['waiting', 'a confirmation may bring another stake', 'bet.stake !== txn.betAmount ||', ''],
  ['waiting', 'a confirmation must bring the first stake', ' bet.stake = txn.betAmount;', ' ;'],
  ['changed', 'a repeat is known by its id alone', 'entry.amount === amount && ', ''],
  ['changed', 'the round of a bet is not compared', '!takes && bet.round === txn.roundId', '!takes'],
  ['changed', 'an adjustment is known by its request alone', 'if (entry.amount !== txn.betAmount)', 'if (false)'],
  ['changed', 'a reward is known by its id alone', 'if (known.payout !== txn.payoutAmount)', 'if (false)', 1],
  ['closed', 'the bet of a refund is claimed by its repeat', 'isReversed(bet)', 'false', 1],
  [
    'late',
    'the cancel of an unknown bet is forgotten',
    "kept.bets.push(newBet(product, txn.id, txn.roundId, 'tombstone', 'REFUND', 0));",
    '',
  ],
  ['late', 'the cancel of an unknown round is forgotten', 'command.timestampMillis <= mark.at', 'false'],
  ['late', 'the cancel of a round stops all bets that come later', 'command.timestampMillis <= mark.at', 'true'],
  [
    'late',
    'what overtook its bet is refused for ever',
    'throw this.unknown(player, command.productId, txn)',
    'throw new Refused(20002)',
    0,
  ],
  ['names', 'ids are the same for all products', 'bet.product === product && bet.id === id', 'bet.id === id'],
  [
    'names',
    'ids are compared without their case',
    'bet.product === product && bet.id === id',
    'bet.product === product && bet.id.toLowerCase() === id.toLowerCase()',
  ],
  [
    'names',
    'rounds are the same for all products',
    'bet.product === product && bet.round === round',
    'bet.round === round',
  ],
  [
    'payout',
    'a win is paid on top of the stake',
    'this.move(player, skip ? 0 : txn.payoutAmount, version, bet',
    'this.move(player, txn.payoutAmount + bet.held, version, bet',
  ],
  ['payout', 'a settle leaves the bet open', "bet.state = 'SETTLED';", '', 0],
  ['repeats', 'a settle pays each time', 'if (skip || bet.paidOut)', 'if (skip)'],
  ['repeats', 'a settle of a round pays each time', 'if (skip || known.paidOut)', 'if (skip)'],
  [
    'repeats',
    'a repeat is answered with the balance of now',
    'repeat: true, before, after',
    'repeat: true, before: after, after',
  ],
  ['repeats', 'an adjustment is no repeat', "one.what === 'adjust' && one.request === command.id", 'false'],
  [
    'repeats',
    'the repeat of a bet is held against its adjusted stake',
    "alike(bet, 'place', txn.betAmount, txn.status, skip)",
    "bet.stake === txn.betAmount ? alike(bet, 'place', txn.betAmount, txn.status, skip) : undefined",
  ],
  [
    'repeats',
    'an adjustment is no repeat when the bet is closed',
    "one.what === 'adjust' && one.request === command.id",
    "isOpen(bet) && one.what === 'adjust' && one.request === command.id",
  ],
  ['repeats', 'the repeat of a cancel is refused', "one.what === 'cancel' && !one.undone", 'false', 0],
  ['repeats', 'a reward is paid each time', 'if (known !== undefined) {', 'if (false) {', 1],
  ['repeats', 'the repeat of a movement is refused', 'entry !== undefined && entry.amount === amount', 'false'],
  [
    'byRound',
    'a settle of a round pays for each bet',
    'const moved = skip ? 0 : txn.payoutAmount;',
    'const moved = txn.payoutAmount * bets.length;',
  ],
  [
    'byRound',
    'a settle of a round closes one bet',
    'of bets.filter(isOpen)) {',
    'of bets.filter(isOpen).slice(0, 1)) {',
  ],
  ['byRound', 'a settle of a round takes cancelled bets along', 'of bets.filter(isOpen)) {', 'of bets) {'],
  [
    'byRound',
    'a settle of a round closes other rounds',
    'bet.product === product && bet.round === round',
    'bet.product === product',
  ],
  ['byRound', 'a round without bets is paid', 'if (bets.length === 0)', 'if (false)', 0],
  ['roundEnd', 'a round that has ended is paid again', 'isEnded(player, product, txn.roundId)', 'false'],
  ['roundEnd', 'a round that has ended takes no bet', "this.rules.roundEnded === 'refuse-all' && isEnded", 'isEnded'],
  ['roundEnd', 'only a settle of the round ends it', 'if (txn.isEndRound)', 'if (false)', 1],
  ['singleState', 'the stake is not held against the balance', 'more > 0 && player.balance < more', 'false'],
  [
    'singleState',
    'the payout may cover the stake',
    'player.balance < more',
    'player.balance + txn.payoutAmount < more',
  ],
  ['singleState', 'the stake is not taken', 'txn.payoutAmount - more;', 'txn.payoutAmount;'],
  ['singleState', 'an open bet is settled with its stake', 'if (bet !== undefined && !pays && !again)', 'if (false)'],
  ['adjust', 'an adjustment goes the other way', 'bet.held - txn.betAmount', 'txn.betAmount - bet.held'],
  ['adjust', 'the adjusted stake is forgotten', ' bet.held = txn.betAmount;', ' ;'],
  [
    'adjust',
    'an adjustment to a former stake is a repeat',
    '&& one.request === command.id)',
    '&& one.amount === txn.betAmount)',
    0,
  ],
  ['adjust', 'an adjustment is not held against the balance', 'moved < 0 && player.balance + moved < 0', 'false', 0],
  ['void', 'a void goes by the amounts of the message', "this.rules.voidAmounts === 'recorded'", 'false'],
  ['void', 'a void keeps the stake', 'bet.held - paid, txn)', '-paid, txn)'],
  ['void', 'a void needs a balance', '!this.rules.voidAllowNegativeBalance', 'true', 1],
  ['void', 'an open bet can be voided', 'isOpen(bet) || ', '', 1],
  [
    'void',
    'the void of a round keeps the payouts',
    'this.voidMove(player, held - paid, txn)',
    'this.voidMove(player, held, txn)',
  ],
  [
    'void',
    'the void of one bet takes back all that its round was paid',
    'Math.min(settlement.paid, txn.payoutAmount - paid)',
    'settlement.paid',
  ],
  ['cancel', 'a settled bet is refunded', "if (!isOpen(bet) && bet.state !== 'TIPS')", 'if (isReversed(bet))'],
  [
    'cancel',
    'the cancel of a round refunds one bet',
    'const open = bets.filter(isOpen);',
    'const open = bets.filter(isOpen).slice(0, 1);',
    0,
  ],
  ['tips', 'the cancel of an unknown tip is paid', "this.rules.tipsUnknown === 'reject'", 'false'],
  ['tips', 'a tip is not held against the balance', 'player.balance < txn.betAmount', 'false', 1],
  [
    'tips',
    'a tip is not given back by cancelBets',
    'return this.refund(player, bet, txn.status, version);',
    "if (bet.kind === 'tip') throw new Refused(20001); return this.refund(player, bet, txn.status, version);",
  ],
  ['tips', 'a tip is settled with its round', "bet.kind === 'bet' && bet.product", 'bet.product'],
  [
    'rewards',
    'the stake of a reward is taken',
    'this.move(player, txn.payoutAmount, version, reward',
    'this.move(player, txn.payoutAmount - (txn.betAmount || 0), version, reward',
  ],
  [
    'rewards',
    'a void does not find a reward',
    "if (reward !== undefined && (bet === undefined || bet.kind === 'tombstone'))",
    'if (false)',
  ],
  ['movements', 'a refId is known for both ways', ' && one.status === status', ''],
  [
    'movements',
    'a debit is not held against the balance',
    "status === 'DEBIT' && amount > 0 && player.balance < amount",
    'false',
  ],
  ['movements', 'a credit takes', "status === 'DEBIT' ? -amount : amount", '-amount'],
  [
    'rollback',
    'a rollback leaves the payout',
    'txn.skipBalanceUpdate ? 0 : -moved, version, bet',
    '0, version, bet',
    1,
  ],
  [
    'rollback',
    'a rollback takes the stake of a bet that skipped',
    "state === 'SETTLED' ? bet.paid : bet.returned",
    "state === 'SETTLED' ? bet.paid : bet.stake",
  ],
  [
    'rollback',
    'the late retry of what was undone pays',
    'return this.isUndone(player, [bet], bet.product, bet.round);',
    'return false;',
  ],
  [
    'rollback',
    'the late retry of a cancel that was undone gives back',
    'if (this.isStale(player, bet))',
    'if (false)',
    1,
  ],
  [
    'rollback',
    'the late retry of a settle of a round that was undone pays',
    'if (this.isStaleInRound(player, product, txn.roundId))',
    'if (false)',
    0,
  ],
  [
    'rollback',
    'the rollback of a round leaves the payouts of single bets',
    '[...settled, ...settlements].reduce',
    'settlements.reduce',
    1,
  ],
  [
    'rollback',
    'the rollback of one bet takes all that its round was paid',
    'others ? Math.min(settlement.paid, txn.payoutAmount - moved) : settlement.paid',
    'settlement.paid',
  ],
  ['rollback', 'the first answer is not forgotten', ', undone: true }', ' }'],
  [
    'rollback',
    'the late retry of a rollback undoes the second result',
    'if (first !== undefined || asked !== undefined)',
    'if (false)',
  ],
  [
    'rollback',
    'a rollback that found the bet open is forgotten',
    'bet.asked.push({ request: command.id, entry: newest });',
    '',
  ],
  [
    'rollback',
    'a rollback that found the round open is forgotten',
    'player.rollbacks.push({ product, round, request: command.id, entry: repeated });',
    '',
  ],
  ['rollback', 'a voided bet can be rolled back', "|| bet.state === 'VOID' || bet.state === 'REJECT'", ''],
  ['rollback', 'the end of a round stays', 'player.endedRounds = player.endedRounds.filter(', '(', 1],
  [
    'arrays',
    'what comes before a refused element stays',
    'player: withResidue(player, error, version)',
    'player: copy',
  ],
  [
    'arrays',
    'the first element is all that counts',
    'for (const txn of command.txns) {',
    'for (const txn of command.txns.slice(0, 1)) {',
  ],
  [
    'arrays',
    'in a repeat the first element has the effect of its bet, whichever had it',
    'effects.findIndex((one) => one.source === source && !one.isOther)',
    '-1',
  ],
  [
    'arrays',
    'repeats of several requests are answered with the oldest and the newest balance',
    'effect.version === Math.max(...effects.map((one) => one.version))',
    'true',
  ],
  ['arrays', 'an unknown element spoils the repeat of a cancel', 'idle === command.txns.length', 'idle > 0'],
  [
    'arrays',
    'a refused cancel of several remembers what was unknown',
    'error.residue(copy);',
    'error.residue(copy); error.residue(player);',
  ],
  [
    'arrays',
    'a cancel of several fails at one that is unknown',
    "command.type !== 'cancelBets' || error.code !== 20001",
    'true',
  ],
];

const OPERATOR: readonly Row[] = [
  [
    'player',
    'currencies are not compared',
    '{ ...fields, type: endpoint, txns }',
    "{ ...fields, currency: 'THB', type: endpoint, txns }",
  ],
  ['player', 'checkBalance compares no currencies', 'player.currency !== fields.currency', 'false'],
  ['player', 'strangers become players', "username === 'simulation-nobody' || ", ''],
  ['invalid', 'amounts may be negative', 'if (amount < 0)', 'if (false)'],
  ['invalid', 'amounts may be text', "if (typeof amount !== 'number')", 'if (false)'],
  ['invalid', 'amounts are rounded', 'Math.abs(amount * UNITS - Math.round(amount * UNITS)) > 1e-6', 'false'],
  ['invalid', 'a bet may be of nothing', 'txn.betAmount === 0 && ', 'false && '],
  ['invalid', 'ids may be missing', "if (typeof id !== 'string' || id === '')", 'if (false)'],
  ['invalid', 'any status will do', 'if (!STATUSES[endpoint]?.includes(txn.status))', 'if (false)'],
  ['invalid', 'an array may be empty', 'if (txns.length === 0)', 'if (false)'],
  [
    'signature',
    'a signature may be missing',
    'if (timestamp === undefined)\n            return false',
    'if (timestamp === undefined)\n            return true',
  ],
  [
    'signature',
    'a signature may be wrong',
    "return headers['sapi-signature'] ===",
    "return true || headers['sapi-signature'] ===",
  ],
  ['signature', 'a signature may be old', '> SKEW_MAX_MS', '> Infinity'],
  ['exact', 'balances are floats', 'answer.after / UNITS', '(answer.after / 10) * 0.1'],
  ['balance', 'checkBalance tells what was there first', '{ balance: after }', '{ balance: OPENING_BALANCE }'],
  ['shape', 'an answer does not name its player', '...balances, username }', '...balances }'],
  ['shape', 'a refusal tells balances', 'return told;', 'return { ...told, balanceBefore: 0, balanceAfter: 0 };'],
  ['shape', 'an answer is for another product', 'Date.now(), productId }', "Date.now(), productId: 'P' }"],
  [
    'served',
    'rollbacks are not served',
    '!(endpoint in STATUSES)',
    "(endpoint === 'rollback' || !(endpoint in STATUSES))",
  ],
  [
    'atOnce',
    'two requests at once both start from the same player',
    'this.answer(endpoint, fields) : { code: 30002 };',
    'await (async () => { const old = structuredClone(this.wallet.players.get(fields.username)); await new Promise((resolve) => setTimeout(resolve, 50)); if (old) this.wallet.players.set(fields.username, old); return this.answer(endpoint, fields); })() : { code: 30002 };',
  ],
  [
    'cut',
    'what nobody waits for is done and forgotten',
    'await new Promise((resolve) => setImmediate(resolve));',
    'await new Promise((resolve) => setTimeout(resolve, 30)); if (request.socket.destroyed) this.wallet.players.get(fields.username).bets.length = 0;',
  ],
];

/** What an operator may do, or nobody can see. The rule says nothing here. */
const FREE: readonly Row[] = [
  [
    'shape',
    'a refusal has an HTTP status of its own',
    'response.writeHead(200',
    'response.writeHead(answer.code === 0 ? 200 : 409',
  ],
  ['shape', 'an answer has an id of its own', 'const told = { id,', "const told = { id: 'mine',"],
  ['shape', 'an answer has further fields', 'Date.now(), productId }', 'Date.now(), productId, server: 7 }'],
  [
    'shape',
    'every request is answered 503 at first, and not done',
    'const fields = JSON.parse(body);',
    'const fields = JSON.parse(body); this.seen ??= new Set(); if (!this.seen.has(body)) { this.seen.add(body); return void response.writeHead(503).end(); }',
  ],
  [
    'shape',
    'every request is answered 500 at first, and done',
    'response.writeHead(200',
    'this.seen ??= new Set(); const isNew = !this.seen.has(body); this.seen.add(body); response.writeHead(isNew ? 500 : 200',
  ],
  [
    'shape',
    'connections are closed after each answer',
    "'Content-Type': 'application/json'",
    "'Content-Type': 'application/json', Connection: 'close'",
  ],
];

export const MUTANTS: readonly Mutant[] = [
  ...WALLET.map((row) => toMutant('wallet', row)),
  ...OPERATOR.map((row) => toMutant('operator', row)),
];

export const UNSEEN: readonly Mutant[] = FREE.map((row) => toMutant('operator', row));

function toMutant(where: Mutant['in'], [rule, bug, from, to, nth]: Row): Mutant {
  return { rule, bug, in: where, from, to, ...(nth !== undefined && { nth }) };
}

const WALLET_TEXT = textOf('../../../src/tools/simulate/model/reference-wallet.js');
const OPERATOR_TEXT = textOf('./reference-operator.js');

/** Both modules, one of them changed; undefined: as they are. */
export async function load(mutant?: Mutant): Promise<typeof reference & typeof operator> {
  const wallet = mutant?.in === 'wallet' ? changed(WALLET_TEXT, mutant) : WALLET_TEXT;
  const around = mutant?.in === 'operator' ? changed(OPERATOR_TEXT, mutant) : OPERATOR_TEXT;
  return { ...(await importText(wallet)), ...(await importText(around)) };
}

function changed(text: string, { bug, from, to, nth }: Mutant): string {
  const parts = text.split(from);
  const places = parts.length - 1;
  if (places === 0 || (nth === undefined && places > 1) || (nth ?? 0) >= places) {
    throw new Error(`"${bug}" is planted where there are ${places} places: ${from}`);
  }
  const at = (nth ?? 0) + 1;
  return parts.slice(0, at).join(from) + to + parts.slice(at).join(from);
}

function textOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

async function importText(text: string) {
  return await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}
