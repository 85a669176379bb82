import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const BETS = 20;

interface Call {
  readonly thread: string;
  readonly startedS: number;
  readonly endedS: number;
  readonly name: string;
  readonly args: string;
}

const UNFINISHED = ' <unfinished ...>';

/** Parses the output of `strace -f -ttt -T`, including lines that were interrupted by another thread. */
function parseTrace(text: string): Call[] {
  const unfinished = new Map<string, Omit<Call, 'endedS'>>();
  const calls: Call[] = [];
  for (const line of text.split('\n')) {
    const match = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line);
    if (match === null) continue;
    const [, thread = '', time = '', rest = ''] = match;
    const atS = Number(time);
    const resumed = /^<\.\.\. (\w+) resumed>(.*)/.exec(rest);
    if (resumed !== null) {
      const first = unfinished.get(thread);
      if (first !== undefined) calls.push({ ...first, args: first.args + resumed[2], endedS: atS });
      unfinished.delete(thread);
      continue;
    }
    const call = /^(\w+)\((.*)$/.exec(rest);
    if (call === null) continue;
    const [, name = '', args = ''] = call;
    if (args.endsWith(UNFINISHED)) {
      unfinished.set(thread, { thread, startedS: atS, name, args: args.slice(0, -UNFINISHED.length) });
    } else {
      calls.push({ thread, startedS: atS, endedS: atS + Number(/<(\d+\.\d+)>$/.exec(args)?.[1] ?? 0), name, args });
    }
  }
  return calls;
}

test('the fsync of the log entry returns before the answer is sent', async () => {
  const folder = makeTempFolder();
  const trace = join(folder.path, 'trace');
  const calls = 'trace=fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg';
  const wrap = ['strace', '-f', '-ttt', '-T', '-s', '100000', '-e', calls, '-o', trace];
  const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder.path}/data` }, wrap);
  try {
    await importPlayers(walletd.adminUrl, ['ann'], 1000);
    const client = new PlatformClient(walletd.callbackUrl);
    for (let i = 0; i < BETS; i++)
      assert.equal((await client.post('placeBets', bet('ann', `traced-bet-${i}.`))).statusCode, 0);
    client.close();
  } finally {
    await walletd.end('SIGTERM');
  }
  const seen = parseTrace(readFileSync(trace, 'latin1'));
  folder.remove();

  for (let i = 0; i < BETS; i++) {
    const id = `traced-bet-${i}.`;
    const isWrite = (call: Call) =>
      /write/.test(call.name) && call.args.includes(id) && !call.args.includes('HTTP/1.1');
    const entry = seen.find(isWrite);
    const answer = seen.find((call) => call.args.includes('HTTP/1.1 200 OK') && call.args.includes(`q-${id}`));
    assert.ok(entry !== undefined, `the entry of ${id} is written`);
    assert.ok(answer !== undefined, `the answer of ${id} is sent`);
    // Only one thread commits. Other threads also sync, when they allocate blocks beyond the end of the data.
    const commit = seen.filter((call) => call.thread === entry.thread);
    const sync = commit.find((call) => /sync/.test(call.name) && call.startedS >= entry.endedS - 1e-6);
    assert.ok(sync !== undefined && / = 0 /.test(sync.args), 'a sync follows the entry, and succeeds');
    // LMDB then writes the new tree's root to its meta page, through a descriptor opened with O_DSYNC.
    const meta = commit.find((call) => / 128, \d+\) += 128 /.test(call.args) && call.startedS >= sync.endedS - 1e-6);
    assert.ok(meta !== undefined, 'the meta page is written after the sync');
    const order = `${id}: synced ${sync.endedS}, meta page ${meta.endedS}, answer ${answer.startedS}`;
    assert.ok(sync.endedS <= answer.startedS && meta.endedS <= answer.startedS, order);
  }
});

test("the trace parser reads strace's output", () => {
  const text = [
    '12 1.5 fdatasync(19 <unfinished ...>',
    '13 1.5 sendto(20, "x", 1) = 1 <0.250000>',
    '12 1.7 <... fdatasync resumed>) = 0 <0.200000>',
    '12 1.8 +++ exited with 0 +++',
  ].join('\n');
  assert.deepEqual(parseTrace(text), [
    { thread: '13', startedS: 1.5, endedS: 1.75, name: 'sendto', args: '20, "x", 1) = 1 <0.250000>' },
    { thread: '12', startedS: 1.5, endedS: 1.7, name: 'fdatasync', args: '19) = 0 <0.200000>' },
  ]);
});
