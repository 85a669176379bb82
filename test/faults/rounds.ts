import { bet, type RequestBody, settlement } from '../support/client.js';

/** One callback, and by how much it moves the balance. */
export interface Step {
  readonly endpoint: string;
  readonly body: RequestBody;
  readonly moves: number;
}

/** The callbacks of the round `id`, one after the other; `i` counts the rounds of a connection. */
export type PlayRound = (username: string, id: string, i: number) => readonly Step[];

export const betAndSettle: PlayRound = (username, id) => [
  { endpoint: 'placeBets', body: bet(username, id, 3), moves: -3 },
  { endpoint: 'settleBets', body: settlement(username, id, 5), moves: 5 },
];

/** Rounds of every kind in turn: all callbacks that move money, by transaction and by round. */
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
    () => [
      callback('adjustBalance', -4, { refId: id, status: 'DEBIT', amount: 4 }),
      callback('winRewards', 2, { id, roundId, status: 'SETTLED', payoutAmount: 2 }),
      callback('adjustBalance', 5, { refId: id, status: 'CREDIT', amount: 5 }),
    ],
  ];
  return (kinds[i % kinds.length] as () => readonly Step[])();
};
