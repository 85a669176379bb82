import { createSecretKey } from 'node:crypto';
import { sign } from '../../src/http/signature.js';
import { OPENING_BALANCE } from '../../src/simulate/case.js';
import { Client } from '../../src/simulate/client.js';
import type { Table } from '../../src/simulate/play.js';
import type { Players } from '../../src/simulate/players.js';
import { DEFAULT_PROFILE, type Profile, rulesOf } from '../../src/simulate/profile.js';
import { load, type Mutant } from './mutants.js';

export const SECRET = '0123456789abcdef0123456789abcdef';
const KEY = createSecretKey(SECRET, 'utf8');
const TIMEOUT_MS = 20_000;

interface Chosen {
  /** Undefined if no bug is planted. */
  readonly mutant?: Mutant | undefined;
  /** The operator's choices where the rules leave it free. */
  readonly choices?: Partial<Profile>;
}

/** Runs a function against a reference operator, with a table that assumes all default choices. */
export async function atReferenceOperator<T>(
  { mutant, choices = {} }: Chosen,
  run: (table: Table, players: Players, url: string) => Promise<T>,
): Promise<T> {
  const { ReferenceWallet, serveOperator } = await load(mutant);
  const rules = rulesOf({ ...DEFAULT_PROFILE, ...choices });
  const operator = await serveOperator({
    Wallet: ReferenceWallet,
    rules,
    isStrict: choices['callbacks.strict'],
    secret: SECRET,
  });
  const client = new Client(operator.url, TIMEOUT_MS, (body, atMs) => {
    const signature = sign(KEY, Buffer.from(body), String(atMs));
    return { 'sapi-timestamp': String(atMs), 'sapi-signature': signature };
  });
  let made = 0;
  const take = async () => ({ username: `simulation-${++made}`, currency: 'THB', balance: OPENING_BALANCE });
  try {
    return await run(
      { client, profile: DEFAULT_PROFILE, retryMs: TIMEOUT_MS, startMs: Date.now() },
      { take },
      operator.url,
    );
  } finally {
    client.close();
    operator.close();
  }
}
