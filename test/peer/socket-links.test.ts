import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { proofOf } from '../../src/peer/proof.js';
import { type PeerTls, SocketLinks } from '../../src/peer/socket-links.js';
import { makeCertificate } from '../support/certificate.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const LOOK: PeerMessage = { type: 'look' };

interface Options {
  readonly tag: string;
  readonly secret?: string;
  readonly storeId?: string;
  readonly tls?: PeerTls;
}

/** One end, and what it has heard. */
class End {
  readonly heard: string[] = [];
  readonly reasons: string[] = [];
  readonly messages: PeerMessage[] = [];
  readonly links: SocketLinks;
  port = 0;

  constructor({ tag, secret = 'a-secret-of-all-nodes', storeId = 'store', tls }: Options) {
    const note = (fields: object) => {
      this.reasons.push(String((fields as { reason?: unknown }).reason));
    };
    this.links = new SocketLinks(
      { host: '127.0.0.1', port: 0 },
      {
        tag,
        secret,
        storeId,
        tls,
        log: { ...silentLogger, info: note, debug: note },
        events: {
          onMessage: (from, message) => {
            this.heard.push(`${from} ${message.type}`);
            this.messages.push(message);
          },
          onUp: (peer) => this.heard.push(`up ${peer}`),
          onDown: (peer) => this.heard.push(`down ${peer}`),
          onRefused: (peer) => this.heard.push(`refused ${peer}`),
        },
      },
    );
  }

  async listen(): Promise<void> {
    this.port = await this.links.listen();
  }

  keep(...peers: readonly [tag: string, port: number][]): void {
    this.links.keep(new Map(peers.map(([tag, port]) => [tag, { host: '127.0.0.1', port }])));
  }
}

async function between(a: Options, b: Options, run: (a: End, b: End) => Promise<void>): Promise<void> {
  const ends = [new End(a), new End(b)] as const;
  const [one, other] = ends;
  try {
    for (const end of ends) await end.listen();
    one.keep([b.tag, other.port]);
    other.keep([a.tag, one.port]);
    await run(one, other);
  } finally {
    await Promise.all(ends.map(({ links }) => links.close()));
  }
}

const [A, B] = ['aaaaaaaa', 'bbbbbbbb'];

test('of two the one with the greater tag dials, and both use the link', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    await until('both are up', () => a.links.isUp(B) && b.links.isUp(A));
    const calls: PeerMessage = {
      type: 'calls',
      callbacks: { firstId: 7, endpoints: ['placeBets'], texts: ['\uFEFF{"ä":"🎲"}'], deadlinesMs: [1.5], traced: [] },
    };
    assert.ok(a.links.send(B, calls) && b.links.send(A, LOOK));
    await until('both have heard', () => a.heard.length === 2 && b.heard.length === 2);
    assert.deepEqual(
      [a.heard, b.heard],
      [
        [`up ${B}`, `${B} look`],
        [`up ${A}`, `${A} calls`],
      ],
    );
    assert.deepEqual(b.messages[0], calls);
    b.links.keep(new Map());
    await until('both are down', () => a.heard.length === 3 && b.heard.length === 3);
    assert.ok(!a.links.send(B, LOOK));
  }));

test('who does not know the secret, or serves another store, is no peer', async () => {
  await between({ tag: A }, { tag: B, secret: 'another-secret-of-all' }, async (a, b) => {
    await until('it is said', () => b.reasons.includes('it does not know the secret (cluster.secret)'));
    assert.deepEqual([a.heard, b.heard], [[], []]);
  });
  await between({ tag: A }, { tag: B, storeId: 'other' }, async (a, b) => {
    await until('it is said', () => b.reasons.includes('it serves another store, store'));
    assert.deepEqual([a.heard, b.heard], [[], []]);
  });
});

test('nobody at an address, or somebody else, refuses', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    b.keep(['99999999', a.port]);
    await until('it is somebody else', () => b.heard.includes('refused 99999999'));
    await a.links.close();
    b.keep([A, a.port]);
    await until('it is nobody', () => b.heard.includes(`refused ${A}`));
  }));

test('who was dialled, and is not any more, sees that nobody listens', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    await until('the link', () => a.links.isUp(B));
    await b.links.close();
    await until('the refusal', () => a.heard.includes(`refused ${B}`));
    assert.deepEqual(a.heard, [`up ${B}`, `down ${B}`, `refused ${B}`]);
  }));

test('what comes before the proof, or is none, ends the connection and is not heard', async () => {
  const end = new End({ tag: B });
  await end.listen();
  const greeting = { wire: 1, storeId: 'store', tag: A, nonce: '0'.repeat(32) };
  const mine = JSON.stringify(greeting);
  const wrong: readonly (readonly (string | Buffer)[])[] = [
    [Buffer.from([0x81, 0xa4])],
    ['no JSON'],
    ['null'],
    ['{}'],
    ['x'.repeat(2000)],
    [JSON.stringify({ ...greeting, wire: 99 })],
    [JSON.stringify({ ...greeting, tag: B })],
    [JSON.stringify({ ...greeting, tag: '__proto__' })],
    [mine, 'not the proof'],
    [mine, ''],
    [mine, Buffer.from('bytes')],
  ];
  for (const frames of wrong) {
    const socket = new WebSocket(`ws://127.0.0.1:${end.port}`);
    socket.on('open', () => {
      for (const frame of frames) socket.send(frame);
    });
    await new Promise((resolve) => socket.on('close', resolve));
  }
  assert.deepEqual(end.heard, []);
  await end.links.close();
});

test('a proof that was heard once is of no use another time, nor for the other end', async () => {
  const end = new End({ tag: B });
  await end.listen();
  const mine = { wire: 1, storeId: 'store', tag: A, nonce: '0'.repeat(32) };
  const attempt = (proof: (theirs: typeof mine, shown: string[]) => string) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${end.port}`);
      const texts: string[] = [];
      socket.on('open', () => socket.send(JSON.stringify(mine)));
      socket.on('message', (data) => {
        texts.push(String(data));
        if (texts.length === 2) socket.send(proof(JSON.parse(texts[0] as string), texts));
      });
      socket.on('close', () => resolve());
      end.links.keep(new Map());
    });
  await attempt((_theirs, [, reflected = '']) => reflected);
  await attempt((theirs) => proofOf('a-secret-of-all-nodes', { ...mine, nonce: '1'.repeat(32) }, theirs));
  assert.deepEqual(end.heard, []);
  const known = new WebSocket(`ws://127.0.0.1:${end.port}`);
  known.on('open', () => known.send(JSON.stringify(mine)));
  known.once('message', (data) => known.send(proofOf('a-secret-of-all-nodes', mine, JSON.parse(String(data)))));
  await until('who knows the secret is heard', () => end.heard.includes(`up ${A}`));
  known.terminate();
  await end.links.close();
});

test('over TLS both ends show certificates of the authority', () =>
  inTempFolder(async (folder) => {
    const { certificateFile, keyFile } = makeCertificate(folder, 'nodes');
    const [cert, key] = [readFileSync(certificateFile), readFileSync(keyFile)];
    const tls = { cert, key, ca: cert };
    await between({ tag: A, tls }, { tag: B, tls }, async (a, b) => {
      await until('both are up', () => a.links.isUp(B) && b.links.isUp(A));
      assert.ok(a.links.send(B, LOOK));
      await until('it is heard', () => b.heard.includes(`${A} look`));
    });
    await between({ tag: A, tls }, { tag: B }, async (a, b) => {
      await until('plain words are not understood', () => b.reasons.length > 0);
      assert.deepEqual([a.heard, b.heard], [[], []]);
    });
  }));
