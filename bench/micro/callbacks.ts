import { rulesOf } from '../../src/cli/rules.js';
import { loadSettings } from '../../src/config/load.js';
import { requestCodecs } from '../../src/http/request-codec.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import type { CallbackCommand, Endpoint } from '../../src/wallet/command.js';

/** Callbacks in one run of a case, and events in a batch. Few enough for one player's bets. */
export const CALLBACKS = 64;
export const NOW_MS = 1_763_600_000_000;
/** Units of the balance that players start with. */
export const OPENING_BALANCE = 10_000_000_000;

const settings = loadSettings({});
export const rules = rulesOf(settings);
export const scales = new ScaleTable({ default: settings.money.scale, byCurrency: settings.money.scales });
export const codecs = requestCodecs({ scales, amountMax: settings.money.amountMax, txnsMax: settings.txnsMax });

/** Ids are as long as platforms send them. */
const id = (kind: string, n: number) => `${kind}-0d9c-4b1e-9a57-${String(n).padStart(18, '0')}`;
const numbers = Array.from({ length: CALLBACKS }, (_, n) => n);

function body(kind: string, n: number, txn: object): Buffer {
  const envelope = { id: id(kind, n), timestampMillis: NOW_MS, productId: 'PRODUCT-1', currency: 'THB' };
  const game = { gameCode: 'GAME-1', playInfo: 'player', isFeature: false, isFeatureBuy: false };
  const txns = [{ id: id('txn1', n), roundId: id('rnd1', n), ...txn, ...game, skipBalanceUpdate: false }];
  return Buffer.from(JSON.stringify({ ...envelope, username: 'player-0000000001', txns }));
}

export const placeBodies = numbers.map((n) => body('plc1', n, { status: 'OPEN', betAmount: 10.5 + n }));

const settleBodies = numbers.map((n) =>
  body('stl1', n, {
    status: 'SETTLED',
    betAmount: 10.5 + n,
    payoutAmount: 12.25 + n,
    turnOver: 0,
    isSingleState: false,
    transactionType: 'BY_TRANSACTION',
    isEndRound: true,
  }),
);

/** Read from their bodies, so that strings and objects are what the service gets. */
export const places = placeBodies.map((bytes) => command('placeBets', bytes));
const settles = settleBodies.map((bytes) => command('settleBets', bytes));

/** Each bet is placed, then settled; half as many bets. */
export const pairs = places.flatMap((place, n) => [place, settles[n] as CallbackCommand]).slice(0, CALLBACKS);

function command(endpoint: Endpoint, bytes: Buffer): CallbackCommand {
  const read = codecs[endpoint].read(bytes).command;
  if (read === undefined) throw new Error(`not a valid request: ${bytes}`);
  return read;
}
