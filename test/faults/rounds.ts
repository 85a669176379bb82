import { bet, type RequestBody, settlement } from '../support/client.js';

/** One callback, and its effect on the balance. */
export interface Step {
  readonly endpoint: string;
  readonly body: RequestBody;
  readonly moves: number;
  /** The request ID of the later rollback that undoes it. After that, a repeat gets 20002. */
  readonly undoneBy?: string;
}

/** The callbacks of the round `id`, in order; `i` counts the rounds on a connection. */
export type PlayRound = (username: string, id: string, i: number) => readonly Step[];

export const betAndSettle: PlayRound = (username, id) => [
  { endpoint: 'placeBets', body: bet(username, id, 3), moves: -3 },
  { endpoint: 'settleBets', body: settlement(username, id, 5), moves: 5 },
];

/** Bets that take 3 KB in the log, but no more memory than other bets. */
export const wordyBets: PlayRound = (username, id) => {
  const { txns, ...request } = bet(username, id, 3);
  const wordy = txns.map((txn) => ({ ...txn, playInfo: '界'.repeat(1000) }));
  return [
    { endpoint: 'placeBets', body: { ...request, txns: wordy }, moves: -3 },
    { endpoint: 'settleBets', body: settlement(username, id, 5), moves: 5 },
  ];
};

/** Callbacks outside rounds: a tip, a reward, and a purse that a game debits and credits back. */
export const besideBets: PlayRound = (username, id) => {
  const from = { timestampMillis: 1, productId: 'P', currency: 'THB', username };
  const step = (endpoint: string, name: string, moves: number, txn: object): Step => {
    return { endpoint, moves, body: { id: `${name}-${id}`, ...from, txns: [txn] } };
  };
  const roundId = `r-${id}`;
  return [
    step('placeTips', 'tip', -2, { id, roundId, status: 'TIPS', betAmount: 2 }),
    step('adjustBalance', 'debit', -4, { refId: id, status: 'DEBIT', amount: 4 }),
    step('winRewards', 'reward', 3, { id, roundId, status: 'SETTLED', payoutAmount: 3 }),
    step('adjustBalance', 'credit', 5, { refId: id, status: 'CREDIT', amount: 5 }),
  ];
};

/** A round that is settled, rolled back and settled again, alternately by transaction and by round. */
export const rollBack: PlayRound = (username, id, i) => {
  const facts = { roundId: `r-${id}`, betAmount: 3, gameCode: 'g', playInfo: 'p' };
  const transactionType = i % 2 === 0 ? 'BY_TRANSACTION' : 'BY_ROUND';
  const step = (endpoint: string, name: string, moves: number, txn: object): Step => {
    const from = { timestampMillis: 1, productId: 'P', currency: 'THB', username };
    const txns = [{ ...facts, id, transactionType, ...txn }];
    return { endpoint, moves, body: { id: `${name}-${id}`, ...from, txns } };
  };
  const result = { status: 'SETTLED', turnOver: 3, isSingleState: false };
  const back = step('rollback', 'back', -5, { status: 'ROLLBACK', payoutAmount: 5 });
  return [
    { endpoint: 'placeBets', body: bet(username, id, 3), moves: -3 },
    { ...step('settleBets', 'first', 5, { ...result, payoutAmount: 5 }), undoneBy: back.body.id },
    back,
    step('settleBets', 'second', 7, { ...result, payoutAmount: 7 }),
  ];
};

/** All kinds of rounds in turn: every callback that moves money, by transaction and by round. */
export const everyCallback: PlayRound = (username, id, i) => {
  const roundId = `r-${id}`;
  const game = { roundId, gameCode: 'g', playInfo: 'p' };
  const callback = (endpoint: string, moves: number, ...txns: readonly object[]): Step => {
    const from = { timestampMillis: 1, productId: 'P', currency: 'THB', username };
    return { endpoint, moves, body: { id: `${endpoint}-${id}`, ...from, txns } };
  };
  const byTransaction = { ...game, id, transactionType: 'BY_TRANSACTION' };
  const byRound = { ...game, id: `all-${id}`, transactionType: 'BY_ROUND' };
  const settled = { status: 'SETTLED', turnOver: 3, isSingleState: false, betAmount: 3, payoutAmount: 5 };
  const voided = { status: 'VOID', betAmount: 3, payoutAmount: 5 };
  const placed = (name = id) => ({ ...game, id: name, status: 'OPEN', betAmount: 3 });
  const kinds: readonly (() => readonly Step[])[] = [
    () => betAndSettle(username, id, i),
    () => [
      callback('placeBets', -3, placed()),
      callback('adjustBets', -1, { ...placed(), betAmount: 4 }),
      callback('settleBets', 5, { ...byTransaction, ...settled, betAmount: 4 }),
      callback('voidSettled', -1, { ...byTransaction, ...voided, betAmount: 4 }),
    ],
    () => [
      callback('placeBets', -3, placed()),
      callback('cancelBets', 3, { ...byTransaction, status: 'REFUND', betAmount: 3 }),
    ],
    () => [
      callback('placeBets', -6, placed(), placed(`second-${id}`)),
      callback('settleBets', 5, { ...byRound, ...settled }),
      callback('voidSettled', 1, { ...byRound, ...voided }),
    ],
    () => [
      callback('placeBets', -6, placed(), placed(`second-${id}`)),
      callback('cancelBets', 6, { ...byRound, status: 'REJECT', betAmount: 6 }),
    ],
    () => [callback('settleBets', 2, { ...byTransaction, ...settled, isSingleState: true })],
    () => [
      callback('placeBets', -3, placed()),
      callback('settleBets', 5, { ...byTransaction, ...settled }),
      callback('rollback', -5, { ...byTransaction, status: 'ROLLBACK', betAmount: 3, payoutAmount: 5 }),
      callback('cancelBets', 3, { ...byTransaction, status: 'REFUND', betAmount: 3 }),
    ],
    () => [
      callback('placeTips', -2, { id, roundId, status: 'TIPS', betAmount: 2 }),
      callback('cancelTips', 2, { id, roundId, status: 'REFUND', betAmount: 2 }),
    ],
    () => besideBets(username, id, i),
  ];
  return (kinds[i % kinds.length] as () => readonly Step[])();
};
