import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importPlayers, PlatformClient, settlement } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { LAUNCHED, WalletdProcess } from '../support/walletd-process.js';

const MIB = 1024 * 1024;
const BETS_AT_ONCE = 200;
const REQUESTS_MAX = 4000;

test('new bets get 503 before the heap is full, and walletd survives', () => fillHeap(96 * MIB, 0));

test("new bets get 503 before a worker's heap is full", () => fillHeap(192 * MIB, 1));

async function fillHeap(maxBytes: number, workers: number): Promise<void> {
  const folder = makeTempFolder();
  const walletd = await WalletdProcess.start(
    {
      WALLETD_STORE: `lmdb:${folder.path}`,
      WALLETD_MEMORY_MAX_BYTES: String(maxBytes),
      WALLETD_OPEN_BETS_MAX: '1000000',
      WALLETD_WORKERS: String(workers),
    },
    [],
    LAUNCHED,
  );
  try {
    const ready = await walletd.waitFor((line) => line.msg === 'walletd is ready');
    assert.ok(Number(ready.heapMaxBytes) <= 150 * MIB, 'the limit that was asked for has been set');
    const players = Array.from({ length: 8 }, (_, i) => `p${i}`);
    await importPlayers(walletd.adminUrl, players, 1e9);
    const client = new PlatformClient(walletd.callbackUrl);
    const placeMany = async (request: number) => {
      const username = players[request % players.length] as string;
      const txns = Array.from({ length: BETS_AT_ONCE }, (_, i) => {
        const id = `bet-number-${request}-${i}`;
        return { id, status: 'OPEN', roundId: `round-${id}`, betAmount: 1, gameCode: 'g', playInfo: 'p' };
      });
      const body = { id: `q${request}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
      return await client.post('placeBets', body);
    };

    let requests = 0;
    let code = 0;
    while (code === 0 && requests < REQUESTS_MAX) code = (await placeMany(requests++)).statusCode;
    assert.equal(code, 50001, `${requests} requests`);
    for (let i = 0; i < 50; i++) {
      const answer = await client.post('settleBets', settlement(players[0] as string, `bet-number-0-${i}`, 2));
      assert.equal(answer.statusCode, 0);
    }
    assert.equal((await placeMany(0)).statusCode, 0, 'a repeat opens nothing');
    client.close();
    assert.equal(await walletd.end('SIGTERM'), 0);
    assert.equal(walletd.errors, '');
    assert.deepEqual(
      walletd.log.filter(({ code }) => /^worker-died/.test(String(code))),
      [],
      'no worker died',
    );
  } finally {
    await walletd.end('SIGKILL');
    folder.remove();
  }
}
