import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { EncryptedChannel } from '../../src/peer/encrypted-channel.js';
import { LINK_PATH } from '../../src/peer/encrypted-handshake.js';
import { makeCertificate } from '../support/certificate.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { A, B, between, End, SECRET, STORE_ID } from './link-end.js';

const LOOK: PeerMessage = { type: 'look' };

test('the member with the greater tag dials, and both use the link', () =>
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

test('a process with a different secret or store is not a peer', async () => {
  await between({ tag: A }, { tag: B, secret: 'another-secret-of-all' }, async (a, b) => {
    await until('it is said', () => a.reasons.includes('it does not know the secret (cluster.secret)'));
    await until('the other one can guess', () => b.reasons.some((reason) => reason.includes('cluster.secret')));
    assert.deepEqual([a.heard, b.heard], [[], []]);
  });
  await between({ tag: A }, { tag: B, storeId: 'other' }, async (a, b) => {
    await until('it is said', () => b.reasons.includes('it serves a different store, store'));
    assert.deepEqual([a.heard, b.heard], [[], []]);
  });
});

test('an address without the dialled process reports a refusal', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    b.keep(['99999999', a.port]);
    await until('it is somebody else', () => b.heard.includes('refused 99999999'));
    await a.links.close();
    b.keep([A, a.port]);
    await until('it is nobody', () => b.heard.includes(`refused ${A}`));
  }));

test('a member that waits to be dialled notices the end of its peer', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    await until('the link', () => a.links.isUp(B));
    await b.links.close();
    await until('the refusal', () => a.heard.includes(`refused ${B}`));
    assert.deepEqual(a.heard, [`up ${B}`, `down ${B}`, `refused ${B}`]);
  }));

/** Dials `end` as an unknown process and sends its own frames. `greeted` receives the listener's first frame. */
async function stranger(end: End, greeted: (hello: Buffer) => readonly (string | Buffer)[], path = LINK_PATH) {
  const socket = new WebSocket(`ws://127.0.0.1:${end.port}${path}`);
  socket.once('message', (hello: Buffer) => {
    for (const frame of greeted(hello)) socket.send(frame);
  });
  await new Promise((resolve) => socket.on('close', resolve));
}

/** The first frame of a dialling member, encrypted with a key derived from these hellos. */
function dialling(greetings: readonly [Buffer, Buffer], member: object, secret = SECRET): Buffer {
  const encrypted = new EncryptedChannel(secret, 'dials', greetings).encrypt(Buffer.from(JSON.stringify(member)));
  return Buffer.concat([greetings[1], encrypted]);
}

const HELLO = Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 7)]);
const MEMBER = { storeId: STORE_ID, tag: A, dialled: B };

test('frames before the proof end the connection and are not read', async () => {
  const end = new End({ tag: B });
  await end.listen();
  const greeted: readonly ((hello: Buffer) => readonly (string | Buffer)[])[] = [
    () => [Buffer.from([0x81, 0xa4])],
    () => [Buffer.alloc(0)],
    () => ['no JSON'],
    () => [JSON.stringify(MEMBER)],
    () => [Buffer.alloc(2000)],
    () => [HELLO],
    () => [Buffer.concat([HELLO, Buffer.alloc(100)])],
    () => [Buffer.concat([Buffer.from([1]), Buffer.alloc(100)])],
    (hello) => [dialling([hello, HELLO], MEMBER, 'another-secret-of-all')],
    (hello) => [dialling([hello, HELLO], { ...MEMBER, tag: B })],
    (hello) => [dialling([hello, HELLO], { ...MEMBER, tag: '__proto__' })],
    (hello) => [dialling([hello, HELLO], { ...MEMBER, storeId: 'other' })],
    (hello) => [dialling([hello, HELLO], { ...MEMBER, dialled: 'cccccccc' })],
    (hello) => [dialling([hello, HELLO], { storeId: STORE_ID })],
    (hello) => [dialling([hello, HELLO], [])],
  ];
  await Promise.all(greeted.map((frames) => stranger(end, frames)));
  assert.deepEqual(end.heard, []);
  await end.links.close();
});

test('a proof is valid once, and only for the end that requested it', async () => {
  const end = new End({ tag: B });
  await end.listen();
  let first: Buffer | undefined;
  await stranger(end, (hello) => {
    first = dialling([hello, HELLO], MEMBER);
    setTimeout(() => end.links.keep(new Map()), 100);
    return [first];
  });
  await until('the link is gone', () => end.heard.length === 2);
  await stranger(end, () => [first as Buffer]);
  await stranger(end, (hello) => {
    const encrypted = new EncryptedChannel(SECRET, 'listens', [hello, HELLO]).encrypt(
      Buffer.from(JSON.stringify(MEMBER)),
    );
    return [Buffer.concat([HELLO, encrypted])];
  });
  await stranger(end, (hello) => [dialling([HELLO, hello], MEMBER)]);
  assert.equal(end.heard.length, 2);
  await end.links.close();
});

test('an unknown process learns only the protocol version', async () => {
  const end = new End({ tag: B });
  await end.listen();
  const shown: Buffer[] = [];
  const frames = [
    HELLO,
    JSON.stringify({ wire: 1, storeId: 'guessed', tag: A, nonce: '0'.repeat(32) }),
    'x',
    undefined,
  ];
  await Promise.all(
    [LINK_PATH, '/'].flatMap((path) =>
      frames.map(async (frame) => {
        const socket = new WebSocket(`ws://127.0.0.1:${end.port}${path}`);
        socket.on('message', (data: Buffer) => shown.push(data));
        if (frame !== undefined) socket.on('open', () => socket.send(frame));
        await new Promise((resolve) => socket.on('close', resolve));
      }),
    ),
  );
  assert.equal(shown.length, frames.length);
  for (const hello of shown) assert.deepEqual([hello.length, hello[0]], [33, 2]);
  assert.equal(new Set(shown.map((hello) => hello.toString('hex'))).size, shown.length);
  await end.links.close();
});

test('an unknown process that dials two members gets a proof from neither', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  const [toA, toB] = await Promise.all(
    [a, b].map(async (end) => {
      await end.listen();
      return new WebSocket(`ws://127.0.0.1:${end.port}${LINK_PATH}`);
    }),
  );
  assert.ok(toA !== undefined && toB !== undefined);
  const ended = Promise.all([toA, toB].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
  const shown: Buffer[] = [];
  const tell = (to: WebSocket, frame: Buffer) => {
    shown.push(frame);
    if (to.readyState === to.OPEN) to.send(frame);
    else to.once('open', () => to.send(frame));
  };
  // Forward everything between the two members, as if they had dialled each other.
  toA.on('message', (data: Buffer) => tell(toB, data));
  toB.on('message', (data: Buffer) => tell(toA, data));
  await ended;
  assert.deepEqual([a.heard, b.heard, shown.length], [[], [], 2]);
  await Promise.all([a.links.close(), b.links.close()]);
});

test("an unknown process cannot occupy a member's memory or connections", async () => {
  const end = new End({ tag: B });
  await end.listen();
  const socket = connect(end.port, '127.0.0.1');
  const request =
    'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n';
  socket.write(`${request}Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
  // Starts a masked frame of 30 MiB and never completes it.
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

/** An unknown process's frames. Some nearly match a member's frames, in this release or the previous one. */
const arbitraryGreeting = fc.record(
  {
    wire: fc.oneof(fc.constant(1), fc.integer(), fc.string()),
    storeId: fc.oneof(fc.constant(STORE_ID), fc.string()),
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
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([HELLO, bytes])),
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

function strangersFrames(port: number, path: string, frames: readonly (string | Buffer)[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.on('open', () => {
      for (const frame of frames) socket.send(frame, () => {});
      setTimeout(() => socket.terminate(), 50);
    });
  });
}

test('members link up and ignore every frame from unknown processes', async () => {
  const a = new End({ tag: A });
  await a.listen();
  const arbitraryStranger = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => () => strangersRaw(a.port, bytes)),
    fc.tuple(fc.constantFrom(LINK_PATH, '/'), fc.array(arbitraryFrame, { maxLength: 4 })).map(
      ([path, frames]) =>
        () =>
          strangersFrames(a.port, path, frames),
    ),
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

test('a member that sends garbage loses its link, and the others continue', () =>
  between({ tag: A }, { tag: B }, async (a, b) => {
    await until('the link is up', () => a.links.isUp(B) && b.links.isUp(A));
    // Send garbage, which no member sends. The only consequence must be the end of the link.
    (a.links as unknown as { links: Map<string, { socket: WebSocket }> }).links
      .get(B)
      ?.socket.send(Buffer.from([0xdf, 1, 2]));
    await until('it has been dialled again', () => b.heard.filter((one) => one === `up ${A}`).length === 2);
    assert.ok(
      b.reasons.some((reason) => /unreadable frame/.test(reason)),
      b.reasons.join(),
    );
  }));

/** A relay to `port` that can hold connections back, or go silent like a cut network. */
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

test('a member that returns while it is dialled keeps exactly one link', async () => {
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
  // Wait long enough for ten dials, because two dials might repeatedly end each other's links.
  await delay(1000);
  assert.deepEqual([b.heard, wire.carried], [[`up ${A}`], 2]);
  await Promise.all([a.links.close(), b.links.close()]);
  wire.close();
});

test('a silent link ends although neither side has closed it', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  await Promise.all([a.listen(), b.listen()]);
  const wire = new Wire(a.port);
  b.keep([A, await wire.listen()]);
  await until('it is up', () => b.links.isUp(A) && a.links.isUp(B));
  const timer = setInterval(() => void (a.links.send(B, LOOK) && b.links.send(A, LOOK)), 200);
  const looks = ({ heard }: End) => heard.filter((text) => text.endsWith(' look')).length;
  await until('they have talked for longer than anybody is silent', () => looks(a) >= 25 && looks(b) >= 25);
  assert.ok(!a.heard.includes(`down ${B}`) && !b.heard.includes(`down ${A}`));
  wire.isCut = true;
  await until('it is noticed', () => a.heard.includes(`down ${B}`) && b.heard.includes(`down ${A}`));
  clearInterval(timer);
  await Promise.all([a.links.close(), b.links.close()]);
  wire.close();
});

test('over TLS both ends show certificates from the authority', () =>
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
