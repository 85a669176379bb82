import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { type TestContext, test } from 'node:test';
import { makeCertificate } from '../support/certificate.js';
import { balanceOf, bet, importPlayers } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { findFolderOf, onPath } from '../support/programs.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';
import { readPage } from '../tidy/pages.js';

/** Runs the lines of docs/proxies.md in Debian's nginx and HAProxy. On Linux, every address in 127.0.0.0/8 is local. */
const FOLDERS = [...onPath(), '/usr/sbin'];
const [PLATFORM, STRANGER, PROXY] = ['127.0.0.9', '127.0.0.8', '127.0.0.1'];
const CALLS = 100;

interface Tried {
  readonly folder: string;
  readonly port: number;
  readonly callbackPort: number;
  readonly healthPort: number;
  /** Files with a certificate for `localhost`. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** The program and arguments that run the page's lines. */
type Start = (lines: string, tried: Tried) => readonly [program: string, ...args: string[]];

/** The first block of code below this heading. */
function linesBelow(heading: string): string {
  const found = new RegExp(`^### ${heading}\\n+\`\`\`\\n([\\s\\S]*?)^\`\`\``, 'm').exec(
    readPage('docs/proxies.md').text,
  );
  assert.ok(found?.[1] !== undefined, heading);
  return found[1];
}

/** Replaces addresses and files of the page by those of the test. */
function withOurs(lines: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `the page has no ${from}`);
    return text.replace(from, to);
  }, lines);
}

const startNginx: Start = (lines, { folder, port, callbackPort, certificateFile, keyFile }) => {
  const ours = withOurs(lines, {
    '127.0.0.1:3000': `127.0.0.1:${callbackPort}`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
  });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const http = [
    'access_log off;',
    ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`),
    `ssl_certificate ${certificateFile};`,
    `ssl_certificate_key ${keyFile};`,
    ours,
  ];
  const main = ['daemon off;', `pid ${folder}/nginx.pid;`, 'error_log stderr warn;', 'events {}'];
  // If root starts nginx, its workers run as another user, who has no access to the folder.
  if (process.getuid?.() === 0) main.unshift('user root;');
  const file = `${folder}/nginx.conf`;
  writeFileSync(file, `${main.join('\n')}\nhttp {\n${http.join('\n')}\n}\n`);
  return ['nginx', '-p', folder, '-e', 'stderr', '-c', file];
};

const startHaproxy: Start = (lines, { folder, port, callbackPort, healthPort, certificateFile, keyFile }) => {
  const both = `${folder}/callbacks.pem`;
  writeFileSync(both, readFileSync(certificateFile, 'utf8') + readFileSync(keyFile, 'utf8'));
  const file = `${folder}/haproxy.cfg`;
  const ours = withOurs(lines, {
    'bind :443': `bind 127.0.0.1:${port}`,
    '/etc/haproxy/callbacks.pem': both,
    '127.0.0.1:3000 check port 3002': `127.0.0.1:${callbackPort} check port ${healthPort}`,
  });
  writeFileSync(file, ours);
  return ['haproxy', '-db', '-f', file];
};

function whyNo(program: string): string | false {
  if (process.platform !== 'linux') return 'it needs the addresses of 127.0.0.0/8';
  return findFolderOf([program], FOLDERS) === undefined && `${program} is not installed: apt-get install ${program}`;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // SIGTERM, so that nginx ends its workers.
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function tryProxy(t: TestContext, heading: string, start: Start): Promise<void> {
  const temp = makeTempFolder();
  t.after(() => temp.remove());
  const healthPort = await freePort();
  const node = await TestNode.start({
    'allow.networks': PLATFORM,
    'allow.proxies': PROXY,
    'health.port': healthPort,
  });
  t.after(() => node.close());
  await importPlayers(node.adminUrl, ['ann'], CALLS);
  const certificate = makeCertificate(temp.path, 'localhost');
  const port = await freePort();
  const callbackPort = Number(new URL(node.callbackUrl).port);
  const [program, ...args] = start(linesBelow(heading), {
    ...{ folder: temp.path, port, callbackPort, healthPort },
    ...certificate,
  });
  const child = spawn(`${findFolderOf([program], FOLDERS)}/${program}`, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => end(child));
  let errors = '';
  child.stderr?.on('data', (bytes) => {
    errors += bytes;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 10, ca: readFileSync(certificate.certificateFile) });
  t.after(() => agent.destroy());

  /** Resolves to the HTTP status; to 0 if there is no answer. */
  const call = (from: string, id: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const options = { method: 'POST', agent, localAddress: from, servername: 'localhost', headers };
      const sent = request(`https://127.0.0.1:${port}/placeBets`, options, (response) => {
        response.resume();
        response.once('close', () => resolve(response.statusCode ?? 0));
      });
      sent.once('error', () => resolve(0));
      sent.end(JSON.stringify(bet('ann', id)));
    });
  /** Repeats the call until there is an answer, as a platform does. A slow machine may need more than one attempt. */
  const callUntil = async (wanted: number, from: string, id: string, headers?: Record<string, string>) => {
    await until(`${heading} answers ${wanted} to ${from}`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${errors}`);
      return (await call(from, id, headers)) === wanted;
    });
  };

  await Promise.all(Array.from({ length: CALLS }, (_, n) => callUntil(200, PLATFORM, `b${n}`)));
  assert.equal(await balanceOf(node.adminUrl, 'ann'), 0, 'each call has moved its money once');
  await callUntil(403, STRANGER, 'c1');
  await callUntil(403, STRANGER, 'c2', { 'X-Forwarded-For': PLATFORM });
}

test("nginx with the page's lines forwards a platform and no stranger", { skip: whyNo('nginx') }, (t) =>
  tryProxy(t, 'nginx', startNginx),
);

test("HAProxy with the page's lines forwards a platform and no stranger", { skip: whyNo('haproxy') }, (t) =>
  tryProxy(t, 'HAProxy', startHaproxy),
);
