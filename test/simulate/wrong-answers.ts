import type { RuleName } from '../../src/simulate/rules.js';
import type { Row } from './mutants.js';

const CARRIED_OUT = 'return this.wallet.answer(this.callbackOf(endpoint, fields), 0);';
const ANSWERED = 'this.answer(endpoint, fields) : { code: 30002 };';
const COMMAND = 'const command = this.callbackOf(endpoint, fields); const [txn] = command.txns;';
const PLAYER = 'this.wallet.players.get(fields.username)';

/**
 * Bug: if the condition is true for a callback and its answer, the callback is accepted and moves additional money.
 * `code` is the answer's code, `was` the player before the callback, and `again` returns whether a text has occurred
 * before for this player.
 */
function moves(rule: RuleName, bug: string, condition: string, units: string): Row {
  const again =
    'const again = (text) => (this.seen ??= new Set()).size === this.seen.add(fields.username + text).size;';
  const balances = `before: answer.before ?? now.balance, after: (answer.after ?? now.balance) + moved`;
  return [
    rule,
    bug,
    CARRIED_OUT,
    `{ ${COMMAND} ${again} const was = ${PLAYER}; const answer = this.wallet.answer(command, 0); const now = ${PLAYER};
     const { code } = answer; const taken = answer.before - answer.after;
     if (now === undefined || !(${condition})) return answer;
     const moved = ${units}; const told = { code: 0, ${balances} }; now.balance += moved; return told; }`,
  ];
}

/** Bug: refuses a callback with 20002 if the condition is true. */
function refuses(rule: RuleName, bug: string, condition: string): Row {
  return [
    rule,
    bug,
    CARRIED_OUT,
    `{ ${COMMAND} const was = ${PLAYER}; if (was !== undefined && (${condition})) return { code: 20002 }; return this.wallet.answer(command, 0); }`,
  ];
}

/** Bug: a message about a player's bet or round is carried out for the round of every other player, too. */
function spreads(rule: RuleName, bug: string, endpoint: string): Row {
  return [
    rule,
    bug,
    CARRIED_OUT,
    `{ ${COMMAND} if (endpoint === '${endpoint}') for (const username of this.wallet.players.keys()) if (username !== fields.username) this.wallet.answer({ ...command, username, txns: [{ ...txn, byRound: true }] }, 0); return this.wallet.answer(command, 0); }`,
  ];
}

const is = (endpoint: string, code: number) => `endpoint === '${endpoint}' && code === ${code}`;
const STAKE = 'txn.betAmount';
const PAYOUT = 'txn.payoutAmount';

/** Bugs in which a refused message moves its money all the same. */
const REFUSED_AND_MOVED: readonly Row[] = [
  moves('payout', 'a settle of an unknown bet is paid', is('settleBets', 20001), PAYOUT),
  moves('late', 'a settle is paid before its bet comes', is('settleBets', 20001), PAYOUT),
  moves('byRound', 'a bet is paid after its round', `${is('settleBets', 20004)} && !txn.byRound`, PAYOUT),
  moves('byRound', 'a round is paid after all its bets were cancelled', is('settleBets', 20003), PAYOUT),
  moves('changed', 'a settle with another payout is paid, too', is('settleBets', 20004), PAYOUT),
  moves('closed', 'a cancelled bet is paid', is('settleBets', 20003), PAYOUT),
  moves('adjust', 'every adjustment takes its stake', "endpoint === 'adjustBets' && code !== 0", `-${STAKE}`),
  moves('cancel', 'the cancel of an unknown bet is paid', is('cancelBets', 20001), STAKE),
  moves('late', 'a settled bet is given back', is('cancelBets', 20004), STAKE),
  moves('tips', 'a settled bet is given back as a tip', is('cancelTips', 20004), STAKE),
  moves('tips', 'a tip is paid like a bet', is('settleBets', 20001), PAYOUT),
  moves('movements', 'a movement is given back like a bet', is('cancelBets', 20001), STAKE),
  moves('changed', 'a changed movement moves, too', is('adjustBalance', 20002), 'txn.amount'),
];

/** Bugs in which a message that is accepted moves another amount. */
const OTHER_AMOUNTS: readonly Row[] = [
  moves('stake', 'a bet that names a payout gets it', is('placeBets', 0), PAYOUT),
  moves('waiting', 'a waiting bet that names a payout gets it', is('placeBets', 0), PAYOUT),
  moves('adjust', 'an adjustment that names a payout gets it', is('adjustBets', 0), PAYOUT),
  moves('cancel', 'a cancel takes the payout that it names', is('cancelBets', 0), `-${PAYOUT}`),
  moves('cancel', 'a cancel gives back what it names', `${is('cancelBets', 0)} && !txn.byRound`, `${STAKE} + taken`),
  moves('cancel', 'a cancel gives nothing back', is('cancelBets', 0), 'taken'),
  moves('rollback', 'a rollback takes the payout that it names', is('rollback', 0), `taken - ${PAYOUT}`),
  moves('tips', 'a tip that names a payout gets it', is('placeTips', 0), PAYOUT),
  moves('tips', 'a tip is given back as its cancel names it', is('cancelTips', 0), `${STAKE} + taken`),
  moves('rewards', 'the void of a reward gives back the stake that it names', is('voidSettled', 0), STAKE),
  moves('movements', 'a movement takes the stake that it names', is('adjustBalance', 0), `-${STAKE}`),
  moves(
    'tips',
    'the void of a round gives back its tips',
    `${is('voidSettled', 0)} && txn.byRound`,
    "now.bets.filter(({ state }) => state === 'TIPS').reduce((sum, { stake }) => sum + stake, 0)",
  ),
  moves('byRound', 'a round is paid once', `${is('settleBets', 0)} && again(txn.roundId)`, `-${PAYOUT}`),
  moves('roundEnd', 'a round is paid once', `${is('settleBets', 0)} && again(txn.roundId)`, `-${PAYOUT}`),
  moves('repeats', 'a confirmation takes the stake again', `${is('placeBets', 0)} && taken === 0`, `-${STAKE}`),
  moves('late', 'a late confirmation takes the stake again', `${is('placeBets', 0)} && taken === 0`, `-${STAKE}`),
  moves(
    'rollback',
    'a rollback that skips takes the payout',
    `${is('rollback', 0)} && txn.skipBalanceUpdate`,
    `-${PAYOUT}`,
  ),
  moves('rollback', 'bets of a cancelled round are free after its rollback', is('rollback', 0), 'taken'),
  moves(
    'arrays',
    'a bet that is twice in an array is taken twice',
    `${is('placeBets', 0)} && command.txns.length > 1 && command.txns[1].id === txn.id`,
    `-${STAKE}`,
  ),
];

/** Bugs in which a message is refused that must be accepted. */
const REFUSED: readonly Row[] = [
  refuses('stake', 'a feature bet may not be free', "endpoint === 'placeBets' && txn.isFeature && txn.betAmount === 0"),
  refuses(
    'waiting',
    'a waiting bet is not settled',
    "endpoint === 'settleBets' && was.bets.some(({ id, state }) => id === txn.id && state === 'WAITING')",
  ),
  refuses('rewards', 'a reward needs a bet', "endpoint === 'winRewards' && was.bets.length === 0"),
  refuses(
    'rewards',
    'a reward has no id of a bet',
    "endpoint === 'winRewards' && was.bets.some(({ id }) => id === txn.id)",
  ),
  refuses(
    'rewards',
    'a round that was cancelled has no rewards',
    "endpoint === 'winRewards' && was.bets.some(({ round, state }) => round === txn.roundId && state === 'REFUND')",
  ),
  refuses(
    'names',
    'a movement has no id of a bet',
    "endpoint === 'adjustBalance' && was.bets.some(({ id }) => id === txn.id)",
  ),
];

/** Bugs in which the players of a round are not distinguished. */
const OF_ALL_PLAYERS: readonly Row[] = [
  spreads('payout', 'a settle closes the bets of other players in its round', 'settleBets'),
  spreads('byRound', 'a settle of a round closes the bets of all its players', 'settleBets'),
  spreads('roundEnd', 'a round ends for all its players', 'settleBets'),
  spreads('cancel', 'a cancel gives back the stakes of other players', 'cancelBets'),
  spreads('late', 'the cancel of a round refuses late bets of all players', 'cancelBets'),
  spreads('void', 'a void takes back what other players were paid', 'voidSettled'),
  spreads('rollback', 'a rollback opens the bets of other players', 'rollback'),
];

/** Bugs in reading requests, in writing answers, and between the two. */
const AROUND: readonly Row[] = [
  ['invalid', 'amounts have no bound', 'if (amount > AMOUNT_MAX)', 'if (false)'],
  ['invalid', 'a bet needs no round', "typeof txn.roundId !== 'string'", 'false'],
  ['exact', 'balances are told as small floats', 'answer.after / UNITS', 'Math.fround(answer.after / UNITS)'],
  [
    'names',
    'rounds are compared in lower case',
    'roundId: txn.roundId ?? id',
    'roundId: txn.roundId?.toLowerCase() ?? id',
  ],
  ['names', 'ids are trimmed', 'const id = txn.id ?? txn.refId;', 'const id = (txn.id ?? txn.refId).trim();', 1],
  [
    'atOnce',
    'requests at once start from the same player and move their money each',
    ANSWERED,
    `await (async () => { this.welcome(fields.username); const old = structuredClone(${PLAYER}); await new Promise((resolve) => setTimeout(resolve, 50)); if (old === undefined) return this.answer(endpoint, fields); const moved = ${PLAYER}.balance - old.balance; this.wallet.players.set(fields.username, old); const answer = this.answer(endpoint, fields); ${PLAYER}.balance += moved; return answer; })() : { code: 30002 };`,
  ],
  [
    'atOnce',
    'a balance is asked by one connection at a time',
    ANSWERED,
    `await (async () => { this.asking ??= new Set(); if (endpoint !== 'checkBalance') return this.answer(endpoint, fields); if (this.asking.has(fields.username)) return { code: 40003 }; this.asking.add(fields.username); await new Promise((resolve) => setTimeout(resolve, 50)); this.asking.delete(fields.username); return this.answer(endpoint, fields); })() : { code: 30002 };`,
  ],
  [
    'cut',
    'a request that nobody waits for moves its money twice',
    ANSWERED,
    `await (async () => { const answer = this.answer(endpoint, fields); await new Promise((resolve) => setTimeout(resolve, 30)); if (request.socket.destroyed && answer.code === 0) ${PLAYER}.balance += answer.after - answer.before; return answer; })() : { code: 30002 };`,
  ],
];

/** Bugs of the operator around the wallet, whose own answers are right. */
export const WRONG_ANSWERS: readonly Row[] = [
  ...REFUSED_AND_MOVED,
  ...OTHER_AMOUNTS,
  ...REFUSED,
  ...OF_ALL_PLAYERS,
  ...AROUND,
];
