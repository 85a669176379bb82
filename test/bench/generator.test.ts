import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Books } from '../../bench/load/books.js';
import type { Play } from '../../bench/load/dealer.js';
import type { LoadResult } from '../../bench/load/run.js';

const GENERATOR = fileURLToPath(new URL('../../bench/load/generator.js', import.meta.url));

test('unanswered requests count as waiting, and every timeout fails the run', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const generator = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    generator.stdin.end(JSON.stringify({ url, mix: 'real', connections: 3, seconds: 0.1, players: 10, seed: 'r1' }));
    let text = '';
    for await (const data of generator.stdout) text += data;
    const { answers, wrong, firstWrong, maxMs } = (
      JSON.parse(text.trim().split('\n').at(-1) as string) as { result: LoadResult }
    ).result;
    assert.deepEqual([answers, wrong], [0, 3]);
    assert.match(String(firstWrong), /^no answer for \d+ ms$/);
    assert.ok(maxMs >= 1000, 'since before the measuring');
  } finally {
    generator.kill('SIGKILL');
    silent.close();
  }
});

test('a refused bet leaves two possible balances in the books', () => {
  const play = { player: 0, step: { moves: -10, shows: -10 } } as Play;
  for (const [before, isRight] of [
    [100, true],
    [90, true],
    [101, false],
    [89, false],
  ] as const) {
    const books = new Books(1, 0, true);
    books.enter({ player: 0, step: { moves: 100, shows: 100 } } as Play, 0, 100);
    books.enterDoubtful(play);
    assert.equal(books.enter(play, before, before - 10), isRight, `before ${before}`);
  }
});

test('a request on a broken connection is sent again on the next one', async () => {
  let requests = 0;
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .on('data', (data: Buffer) => {
        requests++;
        if (requests === 3) return socket.destroy();
        const id = /"id":"[^"]*"/.exec(data.toString('latin1'))?.[0];
        const parting = requests === 2 ? 'Connection: close\r\n' : '';
        const body = `{${id},"statusCode":0,"x":1}`;
        socket.write(`HTTP/1.1 200 OK\r\n${parting}Content-Length: ${body.length}\r\n\r\n${body}`);
        if (parting !== '') socket.end();
      }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const generator = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const options = { url, mix: 'real', connections: 1, seconds: 0.1, players: 10, seed: 'r1', reopens: true };
    generator.stdin.end(JSON.stringify(options));
    let text = '';
    for await (const data of generator.stdout) text += data;
    const { result } = JSON.parse(text.trim().split('\n').at(-1) as string) as { result: LoadResult };
    assert.deepEqual([result.wrong, result.broken], [0, 1], result.firstWrong);
    assert.ok(requests > 3 && result.answers > 0);
  } finally {
    generator.kill('SIGKILL');
    server.close();
  }
});
