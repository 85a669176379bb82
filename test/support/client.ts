import { Agent, request } from 'node:http';

export interface CallbackAnswer {
  readonly statusCode: number;
  readonly balanceBefore?: number;
  readonly balanceAfter?: number;
  /** Balance; only answers to checkBalance contain it. */
  readonly balance?: number;
}

/** A platform with persistent connections. node:http with an agent is three times as fast as fetch. */
export class PlatformClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(
    private readonly url: string,
    /** Closes a connection that gets no answer for this long; 0 means never. */
    private readonly silenceMaxMs = 0,
    /** Returns additional headers for a request with this body. */
    private readonly headersOf: (body: string) => Record<string, string> = () => ({}),
  ) {}

  /** Rejects if the connection breaks before the answer is complete. */
  post(endpoint: string, body: object): Promise<CallbackAnswer> {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = { 'Content-Length': Buffer.byteLength(text), ...this.headersOf(text) };
      const options = { method: 'POST', agent: this.agent, headers, timeout: this.silenceMaxMs };
      const req = request(`${this.url}/${endpoint}`, options, (res) => {
        let received = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => {
          received += chunk;
        });
        res.on('error', reject);
        res.on('end', () => {
          if (!res.complete) return reject(new Error('half an answer'));
          try {
            resolve(JSON.parse(received) as CallbackAnswer);
          } catch (error) {
            reject(error as Error);
          }
        });
      });
      req.on('timeout', () => req.destroy(new Error('no answer')));
      req.on('error', reject);
      req.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

export interface RequestBody {
  readonly id: string;
  readonly timestampMillis: number;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  readonly txns: readonly object[];
}

export function bet(username: string, id: string, amount = 1): RequestBody {
  const txns = [{ id, status: 'OPEN', roundId: `r-${id}`, betAmount: amount, gameCode: 'g', playInfo: 'p' }];
  return { id: `q-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
}

export function settlement(username: string, id: string, payoutAmount: number): RequestBody {
  const fixed = {
    status: 'SETTLED',
    betAmount: 0,
    turnOver: 0,
    isSingleState: false,
    transactionType: 'BY_TRANSACTION',
  };
  const txns = [{ id, roundId: `r-${id}`, payoutAmount, gameCode: 'g', playInfo: 'p', ...fixed }];
  return { id: `s-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
}

/** A round that a request places and settles, so that it can leave memory immediately. */
export function settledRound(username: string, n: number): RequestBody {
  const fixed = {
    status: 'SETTLED',
    isSingleState: true,
    transactionType: 'BY_TRANSACTION',
    gameCode: 'g',
    playInfo: 'p',
  };
  const txns = [{ id: `${username}-${n}`, roundId: `r${n}`, betAmount: 2, payoutAmount: 3, turnOver: 2, ...fixed }];
  return { id: `req-${n}`, timestampMillis: 1, productId: 'P1', currency: 'THB', username, txns };
}

export async function importPlayers(adminUrl: string, usernames: readonly string[], balance: number): Promise<void> {
  const lines = usernames.map((username) => JSON.stringify({ id: 'open', username, currency: 'THB', balance }));
  const init = { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') };
  const response = await fetch(`${adminUrl}/v1/players:import`, init);
  await response.text();
}

export async function balanceOf(adminUrl: string, username: string): Promise<number> {
  const response = await fetch(`${adminUrl}/v1/players/${username}`);
  return ((await response.json()) as { balance: number }).balance;
}
