import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
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
  readonly counts = new ConnectionCounts();
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
        counts: this.counts,
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
    await until('it is said', () => a.reasons.includes('it does not know the secret (cluster.secret)'));
    await until('the other one can guess', () => b.reasons.some((reason) => reason.includes('cluster.secret')));
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
  const attempt = (proof: (theirs: typeof mine) => string) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${end.port}`);
      socket.on('open', () => socket.send(JSON.stringify(mine)));
      socket.once('message', (data) => socket.send(proof(JSON.parse(String(data)))));
      socket.on('close', () => resolve());
      end.links.keep(new Map());
    });
  await attempt((theirs) => proofOf('a-secret-of-all-nodes', 'dials', { ...mine, nonce: '1'.repeat(32) }, theirs));
  await attempt((theirs) => proofOf('a-secret-of-all-nodes', 'listens', mine, theirs));
  await attempt((theirs) => proofOf('a-secret-of-all-nodes', 'dials', theirs, mine));
  assert.deepEqual(end.heard, []);
  const known = new WebSocket(`ws://127.0.0.1:${end.port}`);
  known.on('open', () => known.send(JSON.stringify(mine)));
  known.once('message', (data) => {
    known.send(proofOf('a-secret-of-all-nodes', 'dials', mine, JSON.parse(String(data))));
  });
  await until('who knows the secret is heard', () => end.heard.includes(`up ${A}`));
  known.terminate();
  await end.links.close();
});

test('a stranger who dials two members gets from neither what the other one wants to see', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  const [toA, toB] = await Promise.all(
    [a, b].map(async (end) => {
      await end.listen();
      return new WebSocket(`ws://127.0.0.1:${end.port}`);
    }),
  );
  assert.ok(toA !== undefined && toB !== undefined);
  const ended = Promise.all([toA, toB].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
  const shown: string[] = [];
  const tell = (to: WebSocket, text: string) => {
    shown.push(text);
    if (to.readyState === to.OPEN) to.send(text);
    else to.once('open', () => to.send(text));
  };
  // What either says goes to the other one, as if they had dialled each other.
  toA.on('message', (data) => tell(toB, String(data)));
  toB.on('message', (data) => tell(toA, String(data)));
  await ended;
  assert.deepEqual([a.heard, b.heard, shown.length], [[], [], 2]);
  await Promise.all([a.links.close(), b.links.close()]);
});

test('a stranger cannot make a member keep what it sends, nor a connection', async () => {
  const end = new End({ tag: B });
  await end.listen();
  const socket = connect(end.port, '127.0.0.1');
  const request =
    'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n';
  socket.write(`${request}Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
  // A frame of 30 MiB begins, masked, and does not end.
  socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 1, 0xe0, 0, 0, 0, 0, 0, 0]));
  const sent = setInterval(() => socket.write(Buffer.alloc(8192)), 5);
  socket.on('error', () => {});
  socket.resume();
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(sent);
  assert.ok(socket.bytesWritten < 1024 * 1024, `it took ${socket.bytesWritten} bytes`);
  const plain = await fetch(`http://127.0.0.1:${end.port}/`);
  assert.deepEqual([plain.status, plain.headers.get('connection')], [426, 'close']);
  assert.deepEqual(end.heard, []);
  await end.links.close();
});

/** What a stranger does at the port: raw bytes, or a WebSocket with frames of anything, some of which are nearly right. */
const arbitraryGreeting = fc.record(
  {
    wire: fc.oneof(fc.constant(1), fc.integer(), fc.string()),
    storeId: fc.oneof(fc.constant('store'), fc.string()),
    tag: fc.oneof(fc.constant(B), fc.constant(A), fc.string(), fc.constant(null)),
    nonce: fc.oneof(fc.constant('0'.repeat(32)), fc.string(), fc.array(fc.integer())),
  },
  { requiredKeys: [] },
);
const arbitraryFrame = fc.oneof(
  arbitraryGreeting.map((greeting) => JSON.stringify(greeting)),
  fc.string(),
  fc.json(),
  fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(20_000)),
);

function strangersRaw(port: number, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
    socket.end(bytes);
    setTimeout(() => socket.destroy(), 50);
  });
}

function strangersFrames(port: number, frames: readonly (string | Buffer)[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.on('open', () => {
      for (const frame of frames) socket.send(frame, () => {});
      setTimeout(() => socket.terminate(), 50);
    });
  });
}

test('whatever strangers send, nobody hears it, and members link up all the same', async () => {
  const a = new End({ tag: A });
  await a.listen();
  const arbitraryStranger = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => () => strangersRaw(a.port, bytes)),
    fc.array(arbitraryFrame, { maxLength: 4 }).map((frames) => () => strangersFrames(a.port, frames)),
  );
  const sent = fc.asyncProperty(fc.array(arbitraryStranger, { minLength: 1, maxLength: 10 }), async (strangers) => {
    await Promise.all(strangers.map((stranger) => stranger()));
    assert.deepEqual(a.heard, []);
  });
  await fc.assert(sent, { numRuns: 40 });
  const b = new End({ tag: B });
  await b.listen();
  b.keep([A, a.port]);
  await until('a member links up', () => b.links.isUp(A) && a.links.isUp(B));
  await Promise.all([a.links.close(), b.links.close()]);
});

test('a member that has gone mad loses its link, and the others go on', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    await until('the link is up', () => a.links.isUp(B) && b.links.isUp(A));
    // What no member sends: the end of a link is all that it costs.
    (a.links as unknown as { links: Map<string, { socket: WebSocket }> }).links
      .get(B)
      ?.socket.send(Buffer.from([0xdf, 1, 2]));
    await until('it has been dialled again', () => b.heard.filter((one) => one === `up ${A}`).length === 2);
    assert.ok(
      b.reasons.some((reason) => /cannot be read/.test(reason)),
      b.reasons.join(),
    );
  }));

/** Connections that go on to `port`, once they may; and that say nothing any more, as across a network that is cut. */
class Wire {
  private readonly server = createServer((near) => this.carry(near));
  private readonly sockets = new Set<Socket>();
  private readonly held: (() => void)[] = [];
  isHeld = false;
  isCut = false;
  carried = 0;

  constructor(private readonly to: number) {}

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  release(): void {
    this.isHeld = false;
    for (const go of this.held.splice(0)) go();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private carry(near: Socket): void {
    this.carried++;
    const go = () => {
      const far = connect(this.to, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(from);
        from.on('data', (bytes) => this.isCut || to.write(bytes));
        from.on('close', () => this.isCut || to.destroy());
        from.on('error', () => {});
      }
    };
    if (this.isHeld) this.held.push(go);
    else go();
  }
}

test('a member that goes and comes again while it is dialled has one link, which stays', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  await Promise.all([a.listen(), b.listen()]);
  const wire = new Wire(a.port);
  const port = await wire.listen();
  wire.isHeld = true;
  b.keep([A, port]);
  await until('it is dialled', () => wire.carried === 1);
  b.keep();
  b.keep([A, port]);
  await until('it is dialled once more', () => wire.carried === 2);
  wire.release();
  await until('it is up', () => b.links.isUp(A) && a.links.isUp(B));
  // Whoever would end the other's link would have dialled ten times by then.
  await delay(1000);
  assert.deepEqual([b.heard, wire.carried], [[`up ${A}`], 2]);
  await Promise.all([a.links.close(), b.links.close()]);
  wire.close();
});

test('a link of which nothing comes any more is none, though nobody has closed it', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  await Promise.all([a.listen(), b.listen()]);
  const wire = new Wire(a.port);
  b.keep([A, await wire.listen()]);
  await until('it is up', () => b.links.isUp(A) && a.links.isUp(B));
  const pulse = setInterval(() => void (a.links.send(B, LOOK) && b.links.send(A, LOOK)), 200);
  const looks = ({ heard }: End) => heard.filter((text) => text.endsWith(' look')).length;
  await until('they have talked for longer than anybody is silent', () => looks(a) >= 25 && looks(b) >= 25);
  assert.ok(!a.heard.includes(`down ${B}`) && !b.heard.includes(`down ${A}`));
  wire.isCut = true;
  await until('it is noticed', () => a.heard.includes(`down ${B}`) && b.heard.includes(`down ${A}`));
  clearInterval(pulse);
  await Promise.all([a.links.close(), b.links.close()]);
  wire.close();
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
