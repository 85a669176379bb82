import { readFileSync } from 'node:fs';
import type * as reference from '../../src/simulate/model/reference-wallet.js';
import type { RuleName } from '../../src/simulate/rules.js';
import type * as operator from './reference-operator.js';
import { WRONG_ANSWERS } from './wrong-answers.js';

/** A planted bug: one changed passage in the source text of the wallet or of the operator around it. */
export interface Mutant {
  /** The rule whose cases must find the bug. */
  readonly rule: RuleName;
  readonly bug: string;
  readonly in: 'wallet' | 'operator';
  /** Compiled text to replace. */
  readonly from: string;
  readonly to: string;
  /** The index of the occurrence to change, if there are several. */
  readonly nth?: number;
}

export type Row = readonly [rule: RuleName, bug: string, from: string, to: string, nth?: number];

const WALLET: readonly Row[] = [
  [
    'oldMessages',
    'no message is remembered as a whole',
    'const known = player.remembered.find(',
    'const known = [].find(',
  ],
  [
    'oldMessages',
    'the request that placed a bet is not remembered',
    'const entry = own ?? (opens || takes',
    'const entry = (opens || takes',
  ],
  [
    'oldMessages',
    'the request that placed a tip is not remembered',
    'const entry = own ?? (takes',
    'const entry = (takes',
  ],
  ['oldMessages', 'a newer message takes the place of the one before it', '...today.player.remembered,', ''],
  [
    'oldMessages',
    'a remembered message is told the balances of now',
    'before: known.before, after: known.after',
    'before: player.balance, after: player.balance',
    1,
  ],
  ['oldMessages', 'a settle that was undone is acknowledged again', 'if (isUndone || this.rules', 'if (this.rules'],
  [
    'oldMessages',
    'an array with an element that found nothing is not remembered',
    'if (idle === 0 && isDistinct && areSame && !command.txns.some(meansRound))',
    'if (isDistinct && !command.txns.some(meansRound))',
  ],
  [
    'oldMessages',
    'an array that names a round is not remembered',
    'if (idle === 0 && isDistinct && areSame && !command.txns.some(meansRound))',
    'if (isDistinct && areSame)',
  ],
  [
    'oldMessages',
    'the void of a reward is remembered for its first request alone',
    'repeatOf(entry, entry.request === this.request ? undefined : reward.round)',
    'repeatOf(entry)',
  ],
  [
    'oldMessages',
    'the cancel of a round is remembered for its first request alone',
    'repeatOf(closing, closing.request === this.request ? undefined : txn.roundId)',
    'repeatOf(closing)',
  ],
  [
    'oldMessages',
    'a settle or cancel is remembered for its first request alone',
    'repeatOf(entry, item.entries.some(isOwn) ? undefined : item.round)',
    'repeatOf(entry)',
  ],
  ['stake', 'a bet is not held against the balance', 'player.balance < txn.betAmount', 'false', 0],
  ['stake', 'the whole balance cannot be bet', 'player.balance < txn.betAmount', 'player.balance <= txn.betAmount', 0],
  ['stake', 'a bet takes nothing', 'fresh.held = skip ? 0 : txn.betAmount', 'fresh.held = 0'],
  [
    'stake',
    'a bet of nothing needs a balance',
    '!skip && txn.betAmount > 0 && player.balance < txn.betAmount',
    '!skip && player.balance < txn.betAmount',
    0,
  ],
  ['skip', 'a bet that skips is taken', 'fresh.held = skip ? 0 : txn.betAmount', 'fresh.held = txn.betAmount'],
  ['skip', 'a refund gives the stake, whatever was taken', 'const moved = bet.held;', 'const moved = bet.stake;'],
  [
    'skip',
    'a settle that skips pays',
    'this.move(player, skip ? 0 : txn.payoutAmount, version, bet',
    'this.move(player, txn.payoutAmount, version, bet',
  ],
  [
    'payout',
    'a settle pays less by the stake that it names',
    'this.move(player, skip ? 0 : txn.payoutAmount, version, bet',
    'this.move(player, skip ? 0 : txn.payoutAmount - txn.betAmount, version, bet',
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
    'skip',
    'a single-state settle that skips moves',
    'const moved = skip ? 0 : txn.payoutAmount - more;',
    'const moved = txn.payoutAmount - more;',
  ],
  [
    'skip',
    'a single-state settle that skips needs a balance',
    '!skip && more > 0 && player.balance < more',
    'more > 0 && player.balance < more',
  ],
  [
    'skip',
    'a single-state settle that skips counts as taken',
    'target.held = txn.betAmount;',
    '} { target.held = txn.betAmount;',
  ],
  [
    'skip',
    'a single-state settle that skipped is never carried out',
    '!isReversed(bet) && !bet.paidOut && !skip',
    'false',
  ],
  [
    'skip',
    'a tip that skips is taken',
    'if (!skip)\n            tip.held = txn.betAmount;',
    'tip.held = txn.betAmount;',
  ],
  [
    'skip',
    'a tip that skips needs a balance',
    '!skip && txn.betAmount > 0 && player.balance < txn.betAmount',
    'player.balance < txn.betAmount',
    1,
  ],
  ['skip', 'a tip that skipped is never taken', "item?.state === 'TIPS' && !item.taken && !skip", 'false'],
  ['skip', 'a settle of a round that is paid later closes what is open by then', 'if (known === undefined) {', '{'],
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
  ['waiting', 'a confirmation may bring another stake', 'bet.stake !== txn.betAmount && !changesStake', 'false'],
  ['waiting', 'a confirmation may not bring another stake', 'this.rules.confirmsOtherStake && opens', 'false'],
  [
    'waiting',
    'the stake that a confirmation brings is not recorded',
    'changesStake ? txn.betAmount : bet.stake',
    'bet.stake',
  ],
  ['waiting', 'a confirmation overrules an adjustment', "!bet.entries.some((one) => one.what === 'adjust')", 'true'],
  ['waiting', 'a confirmation must bring the first stake', ' bet.stake = txn.betAmount;', ' ;'],
  [
    'waiting',
    'a confirmation takes a stake that is not covered',
    'if (takes && bet.stake > 0 && player.balance < bet.stake)',
    'if (false)',
  ],
  [
    'waiting',
    'a confirmation may name another round',
    '!(opens || takes) || bet.round !== txn.roundId',
    '!(opens || takes)',
  ],
  [
    'waiting',
    'a confirmation that takes nothing needs a balance',
    'if (takes && bet.stake > 0 && player.balance < bet.stake)',
    'if (player.balance < bet.stake)',
  ],
  ['changed', 'a repeat is known by its id alone', 'entry.amount === amount && ', ''],
  [
    'changed',
    'the round of a bet is not compared',
    "bet.kind === 'bet' && bet.round === txn.roundId",
    "bet.kind === 'bet'",
  ],
  ['changed', 'an adjustment is known by its request alone', 'if (entry.amount !== txn.betAmount)', 'if (false)'],
  ['changed', 'a reward is known by its id alone', 'if (known.payout !== txn.payoutAmount)', 'if (false)', 1],
  ['closed', 'the bet of a refund is claimed by its repeat', 'isReversed(bet)', 'false', 1],
  [
    'closed',
    'the cancel of a round answers for each of its bets',
    "bet.entries.find((one) => one.what === 'cancel' && !one.undone)",
    "bet.entries.find((one) => one.what === 'cancel' && !one.undone) ?? player.closings.find((one) => one.what === 'cancel')",
  ],
  [
    'closed',
    'the void of a round answers for each of its bets',
    "bet.entries.find((one) => one.what === 'void')",
    "bet.entries.find((one) => one.what === 'void') ?? player.closings.find((one) => one.what === 'void')",
  ],
  ['closed', 'what skipped is paid to voided bets', 'if (own.every(isReversed))', 'if (false)'],
  [
    'closed',
    'what skipped is paid to a voided single-state round',
    '!isReversed(bet) && !bet.paidOut && !skip',
    '!bet.paidOut && !skip',
  ],
  [
    'closed',
    'the repeat of a voided single-state settle gets its first answer',
    'entry !== undefined && !pays) {\n            if (isReversed(bet))',
    'entry !== undefined && !pays) {\n            if (false)',
  ],
  [
    'late',
    'the cancel of an unknown bet is forgotten',
    "kept.bets.push(newBet(product, txn.id, txn.roundId, 'tombstone', 'REFUND', 0));",
    '',
  ],
  ['late', 'a late single-state settle of a cancelled round is taken', 'this.rules.cancelStopsSingleState', 'false'],
  ['late', 'the cancel of an unknown round is forgotten', 'command.timestampMillis <= mark.at', 'false'],
  ['late', 'the cancel of a round stops all bets that come later', 'command.timestampMillis <= mark.at', 'true'],
  [
    'late',
    'what overtook its bet is refused for ever',
    'throw this.unknown(player, command.productId, txn)',
    'throw new Refused(20002)',
    0,
  ],
  [
    'late',
    'a confirmation that comes after the settle takes nothing',
    'const takes = alive && !skip && !bet.taken;',
    'const takes = alive && isOpen(bet) && !skip && !bet.taken;',
  ],
  ['late', 'the cancel of a known round stops no bets that come later', '        setMark(player);\n', ''],
  [
    'late',
    'the cancel of a round whose bets were all cancelled is forgotten',
    'throw new Refused(20003, later ? setMark : undefined)',
    'throw new Refused(20003)',
  ],
  ['late', 'of several cancels of a round the first counts', 'standing.at = Math.max(standing.at, at)', ''],
  ['late', 'of several cancels of a round the last to come counts', 'Math.max(standing.at, at)', 'at'],
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
    'names',
    'the cancel of a round is for all products',
    'one.product === command.productId && one.round === round',
    'one.round === round',
  ],
  ['names', 'the end of a round is for all products', 'return JSON.stringify([product, round]);', 'return round;'],
  [
    'names',
    'settles of all rounds share their ids',
    'const known = all.find((one) => one.id === txn.id);',
    'const known = player.settlements.find((one) => one.product === product && one.id === txn.id);',
  ],
  [
    'names',
    'cancels of all rounds share their ids',
    'one.round === round && one.what === what && one.id === id',
    'one.what === what && one.id === id',
  ],
  [
    'names',
    'the void and the cancel of a round share their ids',
    'one.what === what && one.id === id',
    'one.id === id',
  ],
  [
    'names',
    'rewards are the same for all products',
    'player.rewards.find((one) => one.product === product && one.id === txn.id)',
    'player.rewards.find((one) => one.id === txn.id)',
  ],
  [
    'names',
    'a void takes back the reward of another product',
    'player.rewards.find((one) => one.product === command.productId && one.id === txn.id)',
    'player.rewards.find((one) => one.id === txn.id)',
  ],
  ['names', 'movements are the same for all products', 'one.product === product && one.ref === ref', 'one.ref === ref'],
  [
    'payout',
    'a win is paid on top of the stake',
    'this.move(player, skip ? 0 : txn.payoutAmount, version, bet',
    'this.move(player, txn.payoutAmount + bet.held, version, bet',
  ],
  ['payout', 'a settle leaves the bet open', "bet.state = 'SETTLED';", '', 0],
  [
    'payout',
    'a settle must name the round of its bet',
    'if (!isOpen(bet)) {\n            if (bet.singly',
    'if (bet.round !== txn.roundId) throw new Refused(20001);\n        if (!isOpen(bet)) {\n            if (bet.singly',
  ],
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
    'repeats',
    'a WAITING bet is confirmed by its repeat',
    "alive && txn.status === 'OPEN' && !bet.opened",
    'alive && !bet.opened',
  ],
  [
    'repeats',
    'a cancel with the other status is no repeat',
    "one.what === 'cancel' && !one.undone)",
    "one.what === 'cancel' && !one.undone && bet.state === state)",
  ],
  [
    'repeats',
    'the void of a reward takes it back each time',
    'if (entry !== undefined)\n                return repeatOf(entry, entry.request === this.request ? undefined : reward.round);\n            const moved = -reward.paid;',
    'const moved = -reward.payout;',
  ],
  [
    'repeats',
    'the repeat of the void of a reward is new',
    "const entry = reward?.entries.find((one) => one.what === 'void');",
    'const entry = undefined;',
  ],
  ['repeats', 'a confirmation is forgotten', 'bet.opened = true;', ''],
  ['repeats', 'the repeat of a settle that skips is new', 'if (skip || bet.paidOut)', 'if (bet.paidOut)'],
  [
    'repeats',
    'the repeat of a settle of a round that skips is new',
    'if (skip || known.paidOut)',
    'if (known.paidOut)',
  ],
  ['repeats', 'a settle of a round is known by its request', 'if (runsAgain && !isItsOwn)', 'if (!isItsOwn)'],
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
  [
    'roundEnd',
    'the round that the message names ends, not that of its bet',
    'key(command.productId, bet.round)',
    'key(command.productId, txn.roundId)',
  ],
  ['roundEnd', 'a single-state settle ends no round', 'if (txn.isEndRound)', 'if (false)', 0],
  [
    'roundEnd',
    'the end of a round binds within its own request',
    'copy.endedRounds.splice(player.endedRounds.length)',
    '[]',
  ],
  [
    'roundEnd',
    'after the end what skipped is never paid',
    'const own = known.betIds.length',
    'if (isEnded(player, product, txn.roundId)) throw new Refused(20004);\n            const own = known.betIds.length',
  ],
  [
    'roundEnd',
    'what is open is not settled with a round that has ended',
    "nothingOpen && this.rules.roundEnded !== 'ignore'",
    "this.rules.roundEnded !== 'ignore'",
  ],
  ['singleState', 'the stake is not held against the balance', 'more > 0 && player.balance < more', 'false'],
  [
    'singleState',
    'the payout may cover the stake',
    'player.balance < more',
    'player.balance + txn.payoutAmount < more',
  ],
  ['singleState', 'the stake is not taken', 'txn.payoutAmount - more;', 'txn.payoutAmount;'],
  ['singleState', 'an open bet is settled with its stake', 'if (bet !== undefined && !pays && !again)', 'if (false)'],
  ['singleState', 'a stake of 0 needs a balance', 'more > 0 && player.balance < more', 'player.balance < more'],
  [
    'singleState',
    'it is refused in a round that was cancelled',
    'const again = bet?.single',
    'if (player.marks.some((one) => one.round === txn.roundId)) throw new Refused(20003);\n        const again = bet?.single',
  ],
  [
    'singleState',
    'it is refused in a round that has ended',
    "this.rules.roundEnded === 'refuse-all' &&\n            isEnded(",
    'isEnded(',
  ],
  [
    'singleState',
    'a settle BY_TRANSACTION repeats it',
    'if (bet.singly || bet.settledByRound)',
    'if (bet.settledByRound)',
  ],
  ['singleState', 'it repeats a settle BY_TRANSACTION', 'bet?.singly === true && bet.stake', 'bet?.stake'],
  [
    'singleState',
    'a bet confirms it',
    "bet.kind === 'bet' && !bet.single && !isReversed(bet)",
    "bet.kind === 'bet' && !isReversed(bet)",
  ],
  [
    'singleState',
    'the tip of its id counts as settled',
    "isOpen(bet) || bet.state === 'TIPS')\n                throw new Refused(20002)",
    'isOpen(bet))\n                throw new Refused(20002)',
  ],
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
  ['adjust', 'giving back needs a balance', 'moved < 0 && player.balance + moved < 0', 'player.balance + moved < 0', 0],
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
  ['void', 'what a void takes of its round is not taken off', 'settlement.paid -= part;', '', 0],
  [
    'void',
    'the void of a round forgets what single voids have left',
    'const nothing = settled.length === 0 && paid === 0;',
    'const nothing = settled.length === 0;',
  ],
  ['void', 'a round with open bets is not voided', 'if (nothing && bets.some(isOpen))', 'if (bets.some(isOpen))'],
  [
    'void',
    'the void of a round gives back the stakes of open bets',
    'const held = settled.reduce(',
    'const held = bets.reduce(',
  ],
  ['void', 'the void of a round of open bets is final', 'if (nothing && bets.some(isOpen))', 'if (false)'],
  [
    'void',
    'a rejected bet can be voided',
    'if (isReversed(bet)) {',
    "if (isReversed(bet) && bet.state !== 'REJECT') {",
  ],
  ['void', 'a round is voided each time', "one.state = 'VOID';\n            one.paid = 0;", "one.state = 'VOID';"],
  ['cancel', 'a settled bet is refunded', "if (!isOpen(bet) && bet.state !== 'TIPS')", 'if (isReversed(bet))'],
  [
    'cancel',
    'the cancel of a round refunds one bet',
    'const open = bets.filter(isOpen);',
    'const open = bets.filter(isOpen).slice(0, 1);',
    0,
  ],
  [
    'cancel',
    'a waiting bet is not refunded',
    'const moved = bet.held;',
    "if (bet.state === 'WAITING' && state === 'REFUND') throw new Refused(20003);\n        const moved = bet.held;",
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
    'tips',
    'a tip of 0 needs a balance',
    '!skip && txn.betAmount > 0 && player.balance < txn.betAmount',
    '!skip && player.balance < txn.betAmount',
    1,
  ],
  [
    'rewards',
    'the stake of a reward is taken',
    'this.move(player, txn.payoutAmount, version, reward',
    'this.move(player, txn.payoutAmount - (txn.betAmount || 0), version, reward',
  ],
  [
    'rewards',
    'a void does not find a reward',
    "if (reward !== undefined && (bet === undefined || bet.kind === 'tombstone' || entry?.request === command.id))",
    'if (false)',
  ],
  [
    'rewards',
    'a void goes by the amounts of the message',
    'const moved = -reward.paid;',
    'const moved = -txn.payoutAmount;',
  ],
  [
    'rewards',
    'the cancel of a bet that never came keeps a void from the reward of its id',
    "(bet === undefined || bet.kind === 'tombstone' || ",
    '(bet === undefined || ',
  ],
  ['rewards', 'the late retry of a void is one of the bet that has come', ' || entry?.request === command.id', ''],
  ['movements', 'a refId is known for both ways', ' && one.status === status', '', 0],
  [
    'movements',
    'a debit is not held against the balance',
    "status === 'DEBIT' && amount > 0 && player.balance < amount",
    'false',
  ],
  ['movements', 'a credit takes', "status === 'DEBIT' ? -amount : amount", '-amount'],
  [
    'movements',
    'a debit of 0 needs a balance',
    "status === 'DEBIT' && amount > 0 && player.balance < amount",
    "status === 'DEBIT' && player.balance < amount",
  ],
  [
    'movements',
    'a credit must be covered',
    "status === 'DEBIT' && amount > 0 && player.balance < amount",
    'amount > 0 && player.balance < amount',
  ],
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
    'rollback',
    'what was refunded and skipped holds its stake again',
    'bet.held = bet.returned;',
    'bet.held = bet.stake;',
  ],
  ['rollback', 'after a rollback that skips the stake counts as taken', 'bet.taken = false;', ''],
  ['rollback', 'the second result counts as paid', 'bet.paidOut = false;', ''],
  ['rollback', 'the first payout is remembered as paid', 'bet.paid = 0;\n            bet.paidOut', 'bet.paidOut'],
  ['rollback', 'a bet counts as settled by its round for ever', 'bet.settledByRound = false;', ''],
  ['rollback', 'a single-state round cannot be settled otherwise', 'bet.singly = false;', ''],
  [
    'rollback',
    'the late retry of a single-state settle that was undone moves',
    'if (bet !== undefined && this.isStale(player, bet))',
    'if (false)',
  ],
  [
    'rollback',
    'a single-state settle that skips replaces the stake',
    'if (skip && bet?.taken === true && had !== txn.betAmount)',
    'if (false)',
  ],
  [
    'rollback',
    'a single-state round needs its whole stake again',
    '!skip && more > 0 && player.balance < more',
    '!skip && player.balance < txn.betAmount',
  ],
  [
    'rollback',
    'a settle that was undone in part pays nobody and says that it did',
    'if (runsAgain && !isItsOwn)',
    'if (false)',
  ],
  [
    'rollback',
    'the retry of a settle that was undone in part is refused',
    'if (runsAgain && !isItsOwn)',
    'if (runsAgain)',
  ],
  [
    'rollback',
    'the end of a round stays when one bet is opened',
    'player.endedRounds = player.endedRounds.filter(',
    '(',
    0,
  ],
  ['rollback', 'the cancel of a round stops late bets for ever', 'mark.at = -1;', ';'],
  [
    'rollback',
    'the rollback of one bet lets late bets in',
    'forgetCancels(player, product, round);',
    'forgetCancels(player, product, round);\n        for (const mark of player.marks) mark.at = -1;',
    0,
  ],
  [
    'rollback',
    'the rollback of results lets late bets in',
    'if (isOfRefunds) {',
    'for (const mark of player.marks) mark.at = -1;\n        if (isOfRefunds) {',
  ],
  ['rollback', 'the next cancel of the round is thought a repeat', 'forgetCancels(player, product, round);', '', 0],
  [
    'rollback',
    'the rollback of a round takes rejected bets',
    "bets.filter((bet) => bet.state === 'REFUND')",
    "bets.filter((bet) => bet.state === 'REFUND' || bet.state === 'REJECT')",
  ],
  [
    'rollback',
    'the rollback of a round opens voided bets',
    "bets.filter((bet) => bet.state === 'SETTLED')",
    "bets.filter((bet) => bet.state === 'SETTLED' || bet.state === 'VOID')",
    1,
  ],
  [
    'rollback',
    'the rollback of results opens refunds, too',
    'let opened = settled;',
    'let opened = [...settled, ...refunded];',
  ],
  ['rollback', 'the new stake of a single-state round is forgotten', 'target.stake = txn.betAmount;', ''],
  [
    'rollback',
    'a tip that is open can be rolled back',
    "if (isOpen(bet) || bet.state === 'TIPS') {",
    'if (isOpen(bet)) {',
  ],
  [
    'rollback',
    'what was cancelled before it came can be rolled back',
    "bet.kind === 'tombstone' || bet.state === 'VOID'",
    "bet.state === 'VOID'",
  ],
  ['rollback', 'the rollback of a tip opens its round', "if (bet.kind === 'tip') {", 'if (false) {'],
  ['rollback', 'a tip comes back as a bet', "bet.state = 'TIPS';", ';'],
  [
    'rollback',
    'a settle of the round that was undone keeps its id',
    'forgetSettlements(player, product, round);',
    '',
    0,
  ],
  ['rollback', 'the rollback of an unknown round is final', 'if (bets.length === 0)', 'if (false)', 3],
  ['rollback', 'the rollback of a round that is open is final', 'open.length > 0 ? 20001 : 20003', '20003'],
  ['rollback', 'a round that was lost is not opened', 'if (settled.length === 0 && paid === 0) {', 'if (paid === 0) {'],
  [
    'rollback',
    'what a void has left of the payout of a round stays',
    'if (settled.length === 0 && paid === 0) {',
    'if (settled.length === 0) {',
  ],
  [
    'rollback',
    'the late retry of the rollback of a round undoes the second result',
    'player.rollbacks.push({ product, round, request: command.id, entry });',
    '',
  ],
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
  [
    'arrays',
    'of a bet that is twice in an array the repeat tells its balance as the last',
    'effects.filter((effect, i) => placeOf(effect) === i)',
    'effects',
  ],
  [
    'arrays',
    'the cancel of a bet that went with its round spoils the array',
    'const done = error.code === 20003 && isClosedWithRound(copy, command, txn, closed);',
    'const done = false;',
  ],
  [
    'arrays',
    'the cancel of a round spoils the array that has left it nothing',
    'closed.some((one) => one.round === txn.roundId && !one.repeat)',
    'false',
  ],
  [
    'arrays',
    'the void of a round spoils the array that has left it nothing',
    'if (nothing && !isClosedHere)',
    'if (nothing)',
  ],
  ['arrays', 'the rollback of a bet and its round opens refunds, too', 'if (hasBegun)', 'if (false)'],
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
  [
    'stake',
    'a bet may not be of nothing',
    "this.settings.isStrict && endpoint === 'placeBets'",
    "endpoint === 'placeBets'",
  ],
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
  [
    'shape',
    'a refusal tells balances',
    'return reported;',
    'return { ...reported, balanceBefore: 0, balanceAfter: 0 };',
  ],
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
  [
    'stake',
    'a request with unknown fields is refused',
    'return txns.every((txn) => {',
    "return txns.every((txn) => {\n            if ('sessionToken' in txn || 'txnId' in txn) return false;",
  ],
];

/** Changes that an operator is free to make, or that have no visible effect. `rule` has no meaning in these rows. */
const FREE: readonly Row[] = [
  [
    'shape',
    'a refusal has an HTTP status of its own',
    'response.writeHead(200',
    'response.writeHead(answer.code === 0 ? 200 : 409',
  ],
  ['shape', 'an answer has an id of its own', 'const reported = { id,', "const reported = { id: 'mine',"],
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

/** An operator whose amounts have this many decimals. */
export function withDecimals(decimals: number): Mutant {
  return toMutant('operator', [
    'exact',
    `${decimals} decimals`,
    'const UNITS = 100;',
    `const UNITS = ${10 ** decimals};`,
  ]);
}

export const MUTANTS: readonly Mutant[] = [
  ...WALLET.map((row) => toMutant('wallet', row)),
  ...OPERATOR.map((row) => toMutant('operator', row)),
  ...WRONG_ANSWERS.map((row) => toMutant('operator', row)),
];

export const UNSEEN: readonly Mutant[] = FREE.map((row) => toMutant('operator', row));

/** An operator whose platform sends no skips, single-state settles, BY_ROUND messages or waiting bets. */
export const KNOWS_LITTLE = toMutant('operator', [
  'skip',
  'it does not look whether a message skips, is single-state, of a round, or waits',
  "const byRound = txn.transactionType === 'BY_ROUND';\n            const flags = { skipBalanceUpdate: txn.skipBalanceUpdate === true, isSingleState: txn.isSingleState === true };",
  "const byRound = false;\n            const flags = { skipBalanceUpdate: false, isSingleState: false, status: txn.status === 'WAITING' ? 'OPEN' : txn.status };",
]);

function toMutant(where: Mutant['in'], [rule, bug, from, to, nth]: Row): Mutant {
  return { rule, bug, in: where, from, to, ...(nth !== undefined && { nth }) };
}

const WALLET_TEXT = textOf('../../src/simulate/model/reference-wallet.js');
const OPERATOR_TEXT = textOf('./reference-operator.js');

/** Loads both modules, one of them changed by the mutant, if there is one. */
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
