import type { TestNode } from '../support/test-node.js';

/** Carries out the steps of a transcript over HTTP and renders the answers. */
export class Interpreter {
  private requests = 0;

  constructor(private readonly node: TestNode) {}

  async run(input: readonly string[]): Promise<string> {
    const [first = '', ...rest] = input;
    const [action = '', ...words] = first.split(' ');
    const callback = CALLBACKS[action];
    if (callback !== undefined) return await this.callback(callback, words, rest);
    if (action === 'move') return await this.move(words, rest);
    switch (action) {
      case 'create':
        return await this.operate('PUT', `/v1/players/${word(words, 0)}`, { currency: words[1] ?? 'THB' });
      case 'deposit':
      case 'withdraw': {
        const path = `/v1/players/${word(words, 0)}/${action === 'deposit' ? 'deposits' : 'withdrawals'}`;
        return await this.operate('POST', path, { id: words[1], amount: JSON.parse(word(words, 2)) });
      }
      case 'correct': {
        const [username, id, amount = '0', ...rest] = words;
        const allowNegativeBalance = rest[0] === 'debt' || undefined;
        const reason = rest.slice(allowNegativeBalance ? 1 : 0).join(' ');
        const body = { id, amount: JSON.parse(amount), reason, allowNegativeBalance };
        return await this.operate('POST', `/v1/players/${username}/corrections`, body);
      }
      case 'operations':
        return await this.listOperations(`/v1/players/${word(words, 0)}/operations?${words[1] ?? ''}`);
      case 'block':
      case 'unblock':
        return await this.operate('POST', `/v1/players/${word(words, 0)}/${action}`);
      case 'session': {
        const [username = '', token, endMillis] = words;
        const body = { token, ...(endMillis !== undefined && { endMillis: Number(endMillis) }) };
        return await this.operate('PUT', `/v1/players/${username}/session`, body);
      }
      case 'end-session':
        return await this.operate('DELETE', `/v1/players/${word(words, 0)}/session`);
      case 'player':
        return await this.operate('GET', `/v1/players/${word(words, 0)}`);
      case 'transactions':
        return await this.list(`/v1/players/${word(words, 0)}/transactions?${words[1] ?? ''}`);
      case 'scan':
        return await this.list(`/v1/transactions?${words[0] ?? ''}`);
      case 'funded':
        return await this.fund(words);
      case 'settings':
        await this.node.restart(Object.fromEntries(words.map((pair) => [pair.split('=')[0], settingValue(pair)])));
        return '';
      case 'restart':
        await this.node.restart();
        return '';
      case 'raw':
        return await this.raw(words, rest);
      default:
        throw new Error(`unknown command in a transcript: "${action}"`);
    }
  }

  /** Executes `place alice t1 r1 10 skip`, or the same with one transaction on each further line. */
  private async callback(
    callback: CallbackCommandName,
    words: readonly string[],
    lines: readonly string[],
  ): Promise<string> {
    const { options, positional } = optionsOf(words);
    const [username, ...txn] = positional;
    const { endpoint } = callback;
    const txns = lines.length > 0 ? lines.map((line) => line.trim().split(' ')) : [[...txn, ...optionWords(words)]];
    const body = {
      id: options.req ?? `req-${++this.requests}`,
      timestampMillis: Number(options.at ?? 1000),
      productId: options.product ?? 'P1',
      currency: options.currency ?? 'THB',
      username,
      sessionToken: options.token,
      ...(callback !== BALANCE && { txns: txns.map((one) => this.txn(callback, one)) }),
    };
    return await this.post(`/${endpoint}`, JSON.stringify(body));
  }

  /** Executes `move alice x DEBIT 300`, or the same with one movement on each further line. */
  private async move([username, ...movement]: readonly string[], lines: readonly string[]): Promise<string> {
    const movements = lines.length > 0 ? lines.map((line) => line.trim().split(' ')) : [movement];
    const txns = movements.map(([refId, status, amount = '0']) => ({ refId, status, amount: JSON.parse(amount) }));
    const envelope = { id: `req-${++this.requests}`, timestampMillis: 1000, productId: 'P1', currency: 'THB' };
    return await this.post('/adjustBalance', JSON.stringify({ ...envelope, username, txns }));
  }

  private txn(callback: CallbackCommandName, words: readonly string[]): object {
    const { options, flags, positional } = optionsOf(words);
    const [id, roundId, ...amounts] = positional;
    const txn: Record<string, unknown> = { id, roundId, gameCode: 'G1', playInfo: 'x', ...callback.fixed };
    callback.amounts.forEach((name, i) => {
      txn[name] = JSON.parse(amounts[i] ?? '0');
    });
    if (options.status !== undefined) txn.status = options.status;
    if (flags.has('skip')) txn.skipBalanceUpdate = true;
    if (flags.has('feature')) txn.isFeature = true;
    if (flags.has('end')) txn.isEndRound = true;
    if (flags.has('by-round')) txn.transactionType = 'BY_ROUND';
    return txn;
  }

  private async post(path: string, body: string | Buffer): Promise<string> {
    const response = await fetch(this.node.callbackUrl + path, { method: 'POST', body });
    const answer = (await response.json()) as Record<string, unknown>;
    const { statusCode, balanceBefore, balanceAfter } = answer;
    const shape = Object.keys(answer).join(' ');
    // The answer to a malformed request has a reason, except with decisions.version 1.
    const failureShape = response.status === 400 ? shape.replace(/ reason$/, '') : shape;
    if (failureShape === FAILURE_SHAPE && statusCode !== 0) return `${response.status} ${statusCode}`;
    if (shape === SUCCESS_SHAPE && statusCode === 0) {
      return `${response.status} ${statusCode} ${balanceBefore} -> ${balanceAfter}`;
    }
    if (shape === BALANCE_SHAPE && statusCode === 0) return `${response.status} ${statusCode} ${answer.balance}`;
    return `${response.status} of another shape: ${JSON.stringify(answer)}`;
  }

  /** Executes `raw POST /placeBets` with a literal body. Shows the whole answer except its time. */
  private async raw(words: readonly string[], lines: readonly string[]): Promise<string> {
    const [method = 'POST', path = '/'] = words;
    const text = lines.join('\n');
    const body = text.startsWith('hex ') ? Buffer.from(text.slice(4), 'hex') : text;
    const init = method === 'GET' || method === 'HEAD' ? { method } : { method, body };
    const response = await fetch(this.node.callbackUrl + path, init);
    const answer = (await response.json()) as Record<string, unknown>;
    const isRecent = Math.abs(Date.now() - Number(answer.timestampMillis)) < 60_000;
    const headers = [
      `type=${response.headers.get('content-type')}`,
      response.headers.has('retry-after') ? `retry-after=${response.headers.get('retry-after')}` : '',
      response.headers.has('allow') ? `allow=${response.headers.get('allow')}` : '',
    ];
    const shown = JSON.stringify({ ...answer, timestampMillis: isRecent ? 'now' : answer.timestampMillis });
    return `${response.status} ${headers.filter(Boolean).join(' ')}\n${shown}`;
  }

  private async fund(words: readonly string[]): Promise<string> {
    const [username = '', amount = '100'] = words;
    await this.operate('PUT', `/v1/players/${username}`, { currency: 'THB' });
    if (amount === '0') return '';
    await this.operate('POST', `/v1/players/${username}/deposits`, { id: 'fund', amount: JSON.parse(amount) });
    return '';
  }

  private async operate(method: string, path: string, body?: object): Promise<string> {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await fetch(this.node.adminUrl + path, { method, ...init });
    const text = await response.text();
    if (response.ok) return `${response.status} ${text}`;
    const { status, code, detail } = JSON.parse(text);
    return `${status} ${code}: ${detail}`;
  }

  private async listOperations(path: string): Promise<string> {
    const response = await fetch(this.node.adminUrl + path);
    const page = (await response.json()) as { operations: Record<string, unknown>[]; next: string | null };
    if (!response.ok) return `${response.status} ${JSON.stringify(page)}`;
    const rows = page.operations.map((one) => {
      const { type, id, amount, balanceBefore, balanceAfter, timeMillis, by, reason } = one;
      const isRecent = Math.abs(Date.now() - Number(timeMillis)) < 60_000;
      const { name, address } = by as { name: string; address: string };
      const money = id === undefined ? '' : ` ${id} ${amount}: ${balanceBefore} -> ${balanceAfter}`;
      const why = reason === undefined ? '' : ` because ${reason}`;
      return `${type}${money} by ${name} from ${address}${why}${isRecent ? '' : ', long ago'}`;
    });
    return [...rows, page.next === null ? 'end' : 'more'].join('\n');
  }

  private async list(path: string): Promise<string> {
    const response = await fetch(this.node.adminUrl + path);
    const page = (await response.json()) as { transactions: Record<string, unknown>[]; next: string | null };
    if (!response.ok) return `${response.status} ${JSON.stringify(page)}`;
    const rows = page.transactions.map((one) => {
      const { username, kind, id, productId, roundId, state, betAmount, payoutAmount, held, paid } = one;
      const amounts = `bet=${betAmount ?? '-'} payout=${payoutAmount ?? '-'} held=${held} paid=${paid}`;
      return [username, kind, id, productId, roundId, state, amounts].filter((part) => part !== undefined).join(' ');
    });
    return [...rows, page.next === null ? 'end' : 'more'].join('\n');
  }
}

interface CallbackCommandName {
  readonly endpoint: string;
  readonly fixed: object;
  /** Names of the amounts that follow the id and the round. */
  readonly amounts: readonly string[];
}

const FAILURE_SHAPE = 'id statusCode timestampMillis productId';
const SUCCESS_SHAPE = 'id statusCode timestampMillis productId currency balanceBefore balanceAfter username';

const BALANCE_SHAPE = 'id statusCode timestampMillis productId currency balance username';

const BALANCE: CallbackCommandName = { endpoint: 'checkBalance', fixed: {}, amounts: [] };
const settled = { status: 'SETTLED', betAmount: 0, turnOver: 0, isSingleState: false };
const byTransaction = { transactionType: 'BY_TRANSACTION' };
const byRound = { transactionType: 'BY_ROUND' };

const CALLBACKS: Readonly<Record<string, CallbackCommandName>> = {
  balance: BALANCE,
  place: { endpoint: 'placeBets', fixed: { status: 'OPEN' }, amounts: ['betAmount'] },
  settle: { endpoint: 'settleBets', fixed: { ...settled, ...byTransaction }, amounts: ['payoutAmount'] },
  'settle-round': { endpoint: 'settleBets', fixed: { ...settled, ...byRound }, amounts: ['payoutAmount'] },
  single: {
    endpoint: 'settleBets',
    fixed: { ...settled, ...byTransaction, isSingleState: true },
    amounts: ['betAmount', 'payoutAmount'],
  },
  adjust: { endpoint: 'adjustBets', fixed: { status: 'OPEN' }, amounts: ['betAmount'] },
  void: {
    endpoint: 'voidSettled',
    fixed: { status: 'VOID', ...byTransaction },
    amounts: ['betAmount', 'payoutAmount'],
  },
  'void-round': {
    endpoint: 'voidSettled',
    fixed: { status: 'VOID', ...byRound },
    amounts: ['betAmount', 'payoutAmount'],
  },
  cancel: { endpoint: 'cancelBets', fixed: { status: 'REFUND', ...byTransaction }, amounts: ['betAmount'] },
  'cancel-round': { endpoint: 'cancelBets', fixed: { status: 'REFUND', ...byRound }, amounts: ['betAmount'] },
  tip: { endpoint: 'cancelTips', fixed: { status: 'REFUND' }, amounts: ['betAmount'] },
  rollback: {
    endpoint: 'rollback',
    fixed: { status: 'ROLLBACK', ...byTransaction },
    amounts: ['betAmount', 'payoutAmount'],
  },
  'rollback-round': {
    endpoint: 'rollback',
    fixed: { status: 'ROLLBACK', ...byRound },
    amounts: ['betAmount', 'payoutAmount'],
  },
  'place-tip': { endpoint: 'placeTips', fixed: { status: 'TIPS' }, amounts: ['betAmount'] },
  reward: { endpoint: 'winRewards', fixed: { status: 'SETTLED' }, amounts: ['payoutAmount', 'betAmount'] },
};

const FLAGS = ['skip', 'feature', 'end', 'by-round'];
const ENVELOPE_OPTIONS = ['req', 'at', 'product', 'currency', 'token'];

function optionsOf(words: readonly string[]): {
  options: Record<string, string>;
  flags: ReadonlySet<string>;
  positional: string[];
} {
  const options: Record<string, string> = {};
  const flags = new Set<string>();
  const positional: string[] = [];
  for (const one of words) {
    const [name = '', value] = one.split('=');
    if (value !== undefined && (ENVELOPE_OPTIONS.includes(name) || name === 'status')) options[name] = value;
    else if (FLAGS.includes(one)) flags.add(one);
    else positional.push(one);
  }
  return { options, flags, positional };
}

/** Returns the words that describe the transaction, without those that locate it. */
function optionWords(words: readonly string[]): string[] {
  return words.filter((one) => FLAGS.includes(one) || one.startsWith('status='));
}

function word(words: readonly string[], at: number): string {
  const found = words[at];
  if (found === undefined) throw new Error(`word ${at + 1} is missing in: ${words.join(' ')}`);
  return found;
}

function settingValue(pair: string): unknown {
  const text = pair.slice(pair.indexOf('=') + 1);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
