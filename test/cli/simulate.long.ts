import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';
import { WalletdCommand } from '../support/walletd-process.js';

const KEY = 'k1:0123456789abcdef0123456789abcdef';

test('simulate agrees with a walletd that requires signatures, and writes its reports', async () => {
  await inTempFolder(async (folder) => {
    const node = await TestNode.start({ 'signature.keys': KEY });
    try {
      writeFileSync(`${folder}/key`, `# the key of the tests\n${KEY}\n`);
      const reports = ['--junit', `${folder}/junit.xml`, '--html', `${folder}/page.html`];
      const args = [node.callbackUrl, '--operator', node.adminUrl, '--key-file', `${folder}/key`, ...reports];
      const { status, stdout, stderr } = await runCommand(['simulate', ...args]);
      assert.deepEqual([status, stderr], [0, ''], stdout);
      assert.match(stdout, /\d+ cases, \d+ messages: \d+ agree, 0 differ, 0 unknown, 0 skipped\n$/);
      assert.match(
        readFileSync(`${folder}/junit.xml`, 'utf8'),
        /<testsuite name="walletd simulate" tests="\d+" failures="0"/,
      );
      assert.match(readFileSync(`${folder}/page.html`, 'utf8'), /<span class="agrees">agrees<\/span>/);
    } finally {
      await node.close();
    }
  });
});

test('simulate applies a profile and reports deviations from it', async () => {
  await inTempFolder(async (folder) => {
    const node = await TestNode.start({ duplicates: 'reject', 'void.allowNegativeBalance': false });
    try {
      const profile = `${folder}/profile.json`;
      writeFileSync(profile, '{"duplicates": "reject", "void.allowNegativeBalance": false}');
      const args = ['simulate', node.callbackUrl, '--operator', node.adminUrl];
      const agreed = await runCommand([...args, '--profile', profile]);
      assert.equal(agreed.status, 0, agreed.stdout);
      const differing = await runCommand(args);
      assert.equal(differing.status, 5, differing.stdout);
      assert.match(differing.stdout, /\ndiffers .*A repeat must get the first answer, and move nothing/);
      assert.match(differing.stdout, /\nDECIDED OTHERWISE THAN WALLETD DOES: /);
      assert.doesNotMatch(differing.stdout, /\nMONEY IS WRONG|\nTHE INTERFACE IS BROKEN/);
      const reported = differing.stdout.match(/^\* .*/gm) ?? [];
      assert.ok(reported.length <= 10, 'ten findings have their histories');
      assert.equal(new Set(reported).size, reported.length, 'each finding is told once');
      assert.match(differing.stdout, /\n\* [^\n]+\n {2}Question: [^\n]+\?\n[\s\S]*?\n {4}curl -s "\$URL"\/placeBets /);
      const former = await runCommand([...args, '--json', '--only', 'repeats', '--only', 'void']);
      assert.equal(former.status, 5);
      const [line = ''] = former.stdout.split('\n').filter((one) => one.includes('"differs"'));
      const { heading, cause, isFollowUp } = JSON.parse(line) as Record<string, unknown>;
      assert.deepEqual([heading, typeof cause, typeof isFollowUp], ['decision', 'string', 'boolean']);
      writeFileSync(`${folder}/former`, former.stdout);
      const known = await runCommand([
        ...args,
        '--baseline',
        `${folder}/former`,
        '--only',
        'repeats',
        '--only',
        'void',
      ]);
      assert.equal(known.status, 0, known.stdout);
      assert.match(known.stdout, / 0 differ, 0 unknown, \d+ skipped, \d+ known\n$/);
      const more = await runCommand([...args, '--baseline', `${folder}/former`, '--ignore', 'oldMessages']);
      assert.equal(more.status, 5);
      assert.doesNotMatch(more.stdout, /^\w+ +\d+\/\d+ +An old message that is sent again must move nothing/m);
    } finally {
      await node.close();
    }
  });
});

test('random histories and timed rounds agree with walletd and with its learnt profile', async () => {
  await inTempFolder(async (folder) => {
    const node = await TestNode.start({ duplicates: 'reject', 'tips.unknown': 'credit' });
    try {
      const learnt = `${folder}/learnt.json`;
      const args = ['simulate', node.callbackUrl, '--operator', node.adminUrl, '--seconds', '2'];
      const explored = await runCommand([...args, '--learn', learnt, '--mode', 'explore', '--seed', '7']);
      assert.deepEqual([explored.status, explored.stderr], [0, ''], explored.stdout);
      assert.match(explored.stdout, /\nseed 7: \d+ histories, \d+ messages in [\d.]+ s, \d+ a second\n$/);
      assert.deepEqual(JSON.parse(readFileSync(learnt, 'utf8')), {
        duplicates: 'reject',
        'tips.unknown': 'credit',
        decimals: 4,
      });
      const soaked = await runCommand([...args, '--profile', learnt, '--mode', 'soak', '--rate', '50']);
      assert.equal(soaked.status, 0, soaked.stdout);
      assert.match(
        soaked.stdout,
        /\n\d+ answers in [\d.]+ s, \d+ a second of 50\n[\s\S]*\n99\.9 % +[\d.]+\nmax +[\d.]+\n$/,
      );
    } finally {
      await node.close();
    }
  });
});

test('requests with fields, headers and names of another platform agree with walletd', async () => {
  await inTempFolder(async (folder) => {
    const node = await TestNode.start({});
    try {
      const profile = `${folder}/profile.json`;
      writeFileSync(
        profile,
        '{"txnId": true, "sessionToken": "of-{username}", "gameCode": "slot", "playInfo": "main"}',
      );
      const named = ['--username', 'sim#######', '--header', 'X-Api-Key: test', '--header', 'User-Agent: Platform'];
      const args = [node.callbackUrl, '--operator', node.adminUrl, '--profile', profile, '--lanes', '32', ...named];
      const { status, stdout, stderr } = await runCommand(['simulate', ...args]);
      assert.deepEqual([status, stderr], [0, ''], stdout);
    } finally {
      await node.close();
    }
  });
});

test('simulate reaches no verdict on an operator that always answers 503', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(503).end('{"statusCode":50001}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { status, stdout } = await runCommand(['simulate', url, '--create', ':', '--patience', '0', '--json']);
    assert.equal(status, 3);
    const verdicts = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { verdict: string }).verdict);
    assert.deepEqual([...new Set(verdicts)], ['unknown']);
  } finally {
    server.close();
  }
});

/** Runs `run` with the address of a server that never answers. `asked` resolves at its first request. */
async function atSilentServer(run: (url: string, asked: Promise<void>) => Promise<void>) {
  let ask = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const server = createServer(() => ask());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('simulate writes all reports when a signal or its time limit ends it', async () => {
  await inTempFolder(async (folder) => {
    const args = (url: string, name: string) => {
      const reports = ['--junit', `${folder}/${name}.xml`, '--html', `${folder}/${name}.html`];
      return ['simulate', url, '--create', ':', ...reports];
    };
    const isWhole = (name: string, stdout: string, reason: string) => {
      assert.match(stdout, new RegExp(`CANNOT KNOW\\n[\\s\\S]*${reason}[\\s\\S]* unknown, \\d+ skipped\\n$`));
      assert.match(readFileSync(`${folder}/${name}.xml`, 'utf8'), /<\/testsuites>\n$/);
      assert.match(readFileSync(`${folder}/${name}.html`, 'utf8'), /<\/html>\n$/);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      await atSilentServer(async (url, asked) => {
        const command = new WalletdCommand(args(url, signal));
        await asked;
        assert.equal(await command.exit(signal), 3, command.stderr);
        isWhole(signal, command.stdout, 'ended by a signal');
      });
    }
    await atSilentServer(async (url) => {
      const { status, stdout } = await runCommand([...args(url, 'limit'), '--max-seconds', '1']);
      assert.equal(status, 3);
      isWhole('limit', stdout, 'ended after --max-seconds 1');
    });
  });
});

test('a report file that cannot be written keeps no other report from being written', async () => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ['--create', ':', '--patience', '0', '--html', '/dev/null/page.html'];
    const { stdout, stderr } = await runCommand(['simulate', url, ...args]);
    assert.match(stdout, /0 differ, \d+ unknown/);
    assert.match(stderr, /^walletd: --html \/dev\/null\/page\.html: ENOTDIR/m);
  } finally {
    server.close();
  }
});

test('simulate reaches no verdict without players, and explains why there are none', async () => {
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await runCommand(['simulate', 'http://127.0.0.1:9', ...args]);
    assert.deepEqual([status, stdout], [3, '']);
    return stderr;
  };
  assert.equal(
    await run('--create', 'echo "no room for {username}" | cut -d - -f 1 >&2; false'),
    'walletd: a player could not be created: no room for simulation\n',
  );
  assert.match(
    await run('--operator', 'http://127.0.0.1:9'),
    /^walletd: no players from http:\/\/127\.0\.0\.1:9\/v1\/players:import: /,
  );
});

test('simulate reports invalid arguments in one sentence', async () => {
  await inTempFolder(async (folder) => {
    const file = (text: string) => {
      writeFileSync(`${folder}/file`, text);
      return `${folder}/file`;
    };
    const said = async (...args: string[]) => {
      const { status, stderr } = await runCommand(['simulate', 'http://127.0.0.1:9', ...args]);
      assert.equal(status, 2, stderr);
      return stderr.trim();
    };
    assert.match(await said('--create', ':', '--only', 'stakes'), /It can be served, shape, /);
    assert.match(
      await said('--create', ':', '--baseline', file('x\n')),
      /file: line 1 is no result of simulate --json$/,
    );
    assert.match(await said('--create', ':', '--only', 'void', '--ignore', 'void'), /leave no case$/);
    assert.match(await said('--create', ':', '--header', 'Host: a'), /simulate sets Host itself/);
    assert.match(await said('--create', ':', '--username', 'sim#'), /must have 4 to 10 # in a row/);
    assert.match(await said(), /one of --players, --create and --operator/);
    assert.match(await said('--players', file('ann\nbob\n')), /file: it has 2 players, and \d+ are needed$/);
    assert.match(await said('--players', file('ann\nann\n')), /file: ann is there twice$/);
    assert.match(await said('--create', ':', '--key-file', file('# none\n')), /file: there is no secret$/);
    const profile = (text: string) => said('--create', ':', '--profile', file(text));
    assert.match(await profile('{'), /file: it is not JSON: /);
    assert.match(await profile('[]'), /file: it must be a JSON object$/);
    assert.match(await profile('{"tipps": 1}'), /file: it has "tipps": it can have duplicates, /);
    assert.match(
      await profile('{"duplicates": "ignore"}'),
      /file: "duplicates" has "ignore": it can be replay, reject$/,
    );
    assert.match(await profile('{"endpoints": ["bet"]}'), /file: "endpoints" has "bet": it can be checkBalance, /);
    assert.match(await profile('{"paths": {"placeTips": "payTips"}}'), /for placeTips a path that begins with \/$/);
    assert.match(await profile('{"platform": "other"}'), /file: "platform" has "other": it can be callbacks$/);
    assert.match(await profile('{"decimals": 9}'), /file: "decimals" must be a whole number from 0 to 4$/);
    assert.match(await profile('{"txnId": 1}'), /file: "txnId" has 1: it can be false, true$/);
    assert.match(await profile('{"currency": ""}'), /file: "currency" must be text$/);
  });
});
