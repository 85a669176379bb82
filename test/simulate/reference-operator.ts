import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Callback, ReferenceRules } from '../../src/simulate/model/callback.js';
import type { ReferenceAnswer, ReferenceWallet } from '../../src/simulate/model/reference-wallet.js';

/*
 * The smallest possible operator: the reference wallet behind HTTP. Bugs are planted as changes to this file's source
 * text (mutants.ts), so the file imports only Node's own modules.
 */
export interface OperatorSettings {
  /** The wallet class, original or with a planted bug. */
  readonly Wallet: new (
    rules: ReferenceRules,
  ) => ReferenceWallet;
  readonly rules: ReferenceRules;
  /** True if bets of 0 require `isFeature`. */
  readonly isStrict?: boolean | undefined;
  /** Undefined if requests are not signed. */
  readonly secret?: string;
}

type Fields = Readonly<Record<string, unknown>>;

const CURRENCY = 'THB';
const OPENING_BALANCE = 1000;
const UNITS = 100;
const AMOUNT_MAX = 1e10;
const SKEW_MAX_MS = 300_000;
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  placeBets: ['OPEN', 'WAITING'],
  settleBets: ['SETTLED'],
  adjustBets: ['OPEN'],
  voidSettled: ['VOID'],
  cancelBets: ['REFUND', 'REJECT'],
  cancelTips: ['REFUND'],
  rollback: ['ROLLBACK'],
  placeTips: ['TIPS'],
  winRewards: ['SETTLED'],
  adjustBalance: ['DEBIT', 'CREDIT'],
};
const AMOUNTS: Readonly<Record<string, readonly string[]>> = {
  placeBets: ['betAmount'],
  settleBets: ['betAmount', 'payoutAmount'],
  adjustBets: ['betAmount'],
  voidSettled: ['betAmount', 'payoutAmount'],
  cancelBets: ['betAmount'],
  cancelTips: ['betAmount'],
  rollback: ['betAmount', 'payoutAmount'],
  placeTips: ['betAmount'],
  winRewards: ['payoutAmount'],
  adjustBalance: ['amount'],
};

/**
 * Serves on a free port. The first request of a player whose name begins with `simulation-` creates the player, except
 * for `simulation-nobody`.
 */
export async function serveOperator(settings: OperatorSettings): Promise<{ url: string; close: () => void }> {
  const operator = new Operator(settings);
  const server: Server = createServer((request, response) => {
    operator.serve(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, close };
}

class Operator {
  readonly wallet: ReferenceWallet;

  constructor(private readonly settings: OperatorSettings) {
    this.wallet = new settings.Wallet(settings.rules);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const endpoint = (request.url ?? '').slice(1);
    if (endpoint !== 'checkBalance' && !(endpoint in STATUSES)) return void response.writeHead(404).end();
    const fields = JSON.parse(body) as Fields;
    const answer = this.isSigned(request, body) ? this.answer(endpoint, fields) : { code: 30002 };
    await new Promise((resolve) => setImmediate(resolve));
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(this.reportedOf(endpoint, fields, answer)));
  }

  private answer(endpoint: string, fields: Fields): ReferenceAnswer {
    const username = fields.username as string;
    if (endpoint !== 'checkBalance' && !this.isValid(endpoint, fields.txns as Fields[])) return { code: 40003 };
    this.welcome(username);
    const player = this.wallet.players.get(username);
    if (endpoint !== 'checkBalance') return this.wallet.answer(this.callbackOf(endpoint, fields), 0);
    if (player === undefined) return { code: 10001 };
    if (player.currency !== fields.currency) return { code: 40003 };
    return { code: 0, before: player.balance, after: player.balance };
  }

  private welcome(username: string): void {
    if (username === 'simulation-nobody' || this.wallet.players.has(username)) return;
    this.wallet.create(username, CURRENCY, OPENING_BALANCE * UNITS);
  }

  private isValid(endpoint: string, txns: readonly Fields[]): boolean {
    if (txns.length === 0) return false;
    return txns.every((txn) => {
      const id = txn.id ?? txn.refId;
      if (typeof id !== 'string' || id === '') return false;
      if (endpoint !== 'adjustBalance' && typeof txn.roundId !== 'string') return false;
      if (!STATUSES[endpoint]?.includes(txn.status as string)) return false;
      if (this.settings.isStrict && endpoint === 'placeBets' && txn.betAmount === 0 && !txn.isFeature) return false;
      return AMOUNTS[endpoint]?.every((name) => this.isAmount(txn[name]));
    });
  }

  private isAmount(amount: unknown): boolean {
    if (typeof amount !== 'number') return false;
    if (amount < 0) return false;
    if (amount > AMOUNT_MAX) return false;
    if (Math.abs(amount * UNITS - Math.round(amount * UNITS)) > 1e-6) return false;
    return true;
  }

  private callbackOf(endpoint: string, fields: Fields): Callback {
    const txns = (fields.txns as Fields[]).map((txn) => {
      const id = txn.id ?? txn.refId;
      const byRound = txn.transactionType === 'BY_ROUND';
      const flags = { skipBalanceUpdate: txn.skipBalanceUpdate === true, isSingleState: txn.isSingleState === true };
      const units = (name: string) => Math.round(((txn[name] as number) ?? 0) * UNITS);
      const amounts = { betAmount: units('betAmount'), payoutAmount: units('payoutAmount'), amount: units('amount') };
      return {
        ...txn,
        id,
        roundId: txn.roundId ?? id,
        byRound,
        ...flags,
        isEndRound: txn.isEndRound === true,
        ...amounts,
      };
    });
    return { ...fields, type: endpoint, txns } as unknown as Callback;
  }

  private isSigned({ headers }: IncomingMessage, body: string): boolean {
    const { secret } = this.settings;
    if (secret === undefined) return true;
    const timestamp = headers['sapi-timestamp'];
    if (timestamp === undefined) return false;
    if (Math.abs(Date.now() - Number(timestamp)) > SKEW_MAX_MS) return false;
    return headers['sapi-signature'] === createHmac('sha256', secret).update(`${body}.${timestamp}`).digest('hex');
  }

  private reportedOf(endpoint: string, { id, productId, username, currency }: Fields, answer: ReferenceAnswer): object {
    const reported = { id, statusCode: answer.code, timestampMillis: Date.now(), productId };
    if (answer.before === undefined) return reported;
    const before = answer.before / UNITS;
    const after = answer.after / UNITS;
    const balances = endpoint === 'checkBalance' ? { balance: after } : { balanceBefore: before, balanceAfter: after };
    return { ...reported, currency, ...balances, username };
  }
}
