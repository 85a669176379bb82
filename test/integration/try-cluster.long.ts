import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endAfterTests } from '../support/children.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('../try-cluster/main.js', import.meta.url));
const SERVERS = 9;
const NODES = 3;

/** The cluster started by `npm run cluster`, on free ports and with its files in a test folder. */
class TriedCluster {
  stdout = '';
  readonly child: ChildProcess;

  constructor(folder: string) {
    const env = { ...process.env, TMPDIR: folder };
    this.child = endAfterTests(
      spawn(process.execPath, [PROGRAM, '--port', '0'], { env, stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    this.child.stdout?.on('data', (data: Buffer) => {
      this.stdout += data.toString();
    });
  }

  async said(words: RegExp): Promise<string> {
    return await until(`it says ${words}`, () => {
      assert.equal(this.child.exitCode, null, this.stdout);
      return words.exec(this.stdout)?.[0];
    });
  }

  order(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Process ids of the program's children that are still running. */
  started(): number[] {
    const { pid } = this.child;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  }

  /** Sends the request of a curl command that the program has printed, without starting curl. */
  async curl(line: string): Promise<{ readonly balanceAfter?: number }> {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => (quoted ?? plain) as string);
    const after = (flag: string) => words.flatMap((word, i) => (words[i - 1] === flag ? [word] : []));
    const headers = after('-H').map((header) => header.split(': ') as [string, string]);
    const url = words.find((word) => word.startsWith('http://')) as string;
    const [method = 'POST'] = after('-X');
    const response = await fetch(url, { method, headers, body: after('-d')[0] as string });
    return (await response.json()) as { balanceAfter?: number };
  }
}

async function assertNothingIsLeft(child: ChildProcess, pids: readonly number[], folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  assert.deepEqual([child.exitCode, child.signalCode], [0, null]);
  assert.deepEqual(readdirSync(folder), []);
  await until('all processes have ended', () => pids.every((pid) => !runs(pid)));
}

/** False for a process that has exited but is still listed because init has not reaped it. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('npm run cluster plays a bet, replaces a node and cleans up', () =>
  inTempFolder(async (folder) => {
    const tried = new TriedCluster(folder);
    await tried.said(/^node-2 +up/m);
    const pids = tried.started();
    assert.equal(pids.length, SERVERS + NODES);
    const curls = tried.stdout.split('\n').filter((line) => line.startsWith('  curl '));
    const answers = [];
    for (const line of curls) answers.push(await tried.curl(line));
    assert.deepEqual(
      answers.map(({ balanceAfter }) => balanceAfter),
      [undefined, 1000, 990],
    );
    await tried.said(/the consumer of the feed has read 3 events/);

    tried.order('kill 2');
    await tried.said(/all shards are served again, by others, after \d+ ms/);
    await tried.said(/^node-2 +does not run$/m);
    assert.equal(tried.started().length, SERVERS + NODES - 1);
    assert.equal((await tried.curl(curls.at(-1) as string)).balanceAfter, 990, 'a repeat gets its first answer');
    tried.order('kill 2');
    await tried.said(/node-2 does not run: start 2/);
    tried.order('kill 3');
    await tried.said(/there is no node 3: 0 to 2/);
    tried.order('start 2');
    await tried.said(/node-2 is ready after \d+ ms/);
    await tried.curl((curls.at(-1) as string).replaceAll('bet-1', 'bet-2'));
    await tried.said(/the consumer of the feed has read 4 events/);

    pids.push(...tried.started());
    tried.child.kill('SIGINT');
    await assertNothingIsLeft(tried.child, pids, folder);
  }));

test('npm run cluster cleans up when interrupted during startup', () =>
  inTempFolder(async (folder) => {
    const tried = new TriedCluster(folder);
    await until('some servers have started', () => tried.started().length >= 2);
    const pids = tried.started();
    tried.child.kill('SIGTERM');
    await assertNothingIsLeft(tried.child, pids, folder);
  }));

test('npm run cluster ends when its input ends', () =>
  inTempFolder(async (folder) => {
    const tried = new TriedCluster(folder);
    tried.child.stdin?.end('status\n');
    await tried.said(/^node-2 +up/m);
    const pids = tried.started();
    await assertNothingIsLeft(tried.child, pids, folder);
  }));

test('npm run cluster reports that Redis is missing', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], { env: { PATH: '' }, encoding: 'utf8' });
  assert.deepEqual([status, stderr.split(':')[0]], [1, 'redis-server is not on the PATH']);
});
