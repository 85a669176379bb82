import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Packr } from 'msgpackr';
import { WebSocket, WebSocketServer } from 'ws';
import { isProof, type OldHello, parseHello, proofOf } from '../../src/peer/old-proof.js';
import type { Side } from '../../src/peer/side.js';
import { until } from '../support/until.js';
import { A, B, End, SECRET, STORE_ID } from './link-end.js';

const LOOK = new Packr({ useRecords: false, moreTypes: true }).pack({ type: 'look' });

/** A member that runs the previous release. It sends its hello at once, and sends its own proof. */
class OldPeer {
  readonly mine: OldHello;
  /** True if the other end has proved that it knows the secret. */
  isUp = false;
  isClosed = false;
  private theirs: OldHello | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly side: Side,
    tag: string,
    nonce = '0'.repeat(32),
  ) {
    this.mine = { wire: 1, storeId: STORE_ID, tag, nonce };
    socket.on('message', (data, isBytes) => isBytes || this.hear(String(data)));
    socket.on('close', () => {
      this.isClosed = true;
    });
    socket.on('error', () => {});
    if (socket.readyState === socket.OPEN) this.sayHello();
    else socket.on('open', () => this.sayHello());
  }

  private sayHello(): void {
    this.socket.send(JSON.stringify(this.mine));
  }

  private hear(text: string): void {
    const { side, mine, theirs } = this;
    if (theirs === undefined) {
      this.theirs = parseHello(text);
      if (side === 'dials') this.socket.send(proofOf(SECRET, side, mine, this.theirs as OldHello));
      return;
    }
    this.isUp = isProof(text, SECRET, side === 'dials' ? 'listens' : 'dials', mine, theirs);
    if (this.isUp && side === 'listens') this.socket.send(proofOf(SECRET, side, mine, theirs));
  }
}

async function withEnd(tag: string, run: (end: End) => Promise<void>): Promise<void> {
  const end = new End({ tag });
  await end.listen();
  try {
    await run(end);
  } finally {
    await end.links.close();
  }
}

async function listening(run: (port: number, server: WebSocketServer) => Promise<void>): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  try {
    await run((server.address() as AddressInfo).port, server);
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
}

const dial = ({ port }: End) => new WebSocket(`ws://127.0.0.1:${port}`);

test('an older node that dials gets a link, with a warning', () =>
  withEnd(A, async (end) => {
    end.keep([B, 1]);
    const socket = dial(end);
    const peer = new OldPeer(socket, 'dials', B);
    await until('the link is up', () => end.links.isUp(B) && peer.isUp);
    socket.send(LOOK);
    await until('it is heard', () => end.heard.includes(`${B} look`));
    assert.deepEqual(end.warned, ['link-unauthenticated']);
  }));

test('an older node that is dialled gets a link, with a warning', () =>
  withEnd(B, (end) =>
    listening(async (port, server) => {
      server.on('connection', (socket) => new OldPeer(socket, 'listens', A));
      end.keep([A, port]);
      await until('the link is up', () => end.links.isUp(A));
      assert.deepEqual(end.warned, ['link-unauthenticated']);
    }),
  ));

test('an older hello that names no member gets no answer', () =>
  withEnd(A, async (end) => {
    const socket = dial(end);
    let answers = 0;
    socket.on('message', () => answers++);
    const peer = new OldPeer(socket, 'dials', B);
    await until('it is closed', () => peer.isClosed);
    assert.deepEqual([answers, end.heard], [0, []]);
  }));

test('a relay cannot make two newer nodes speak the older protocol', async () => {
  const [a, b] = [new End({ tag: A }), new End({ tag: B })];
  await Promise.all([a.listen(), b.listen()]);
  const invented = (tag: string) => JSON.stringify({ wire: 1, storeId: STORE_ID, tag, nonce: '0'.repeat(32) });
  await listening(async (port, server) => {
    // Each node sends its hello only after it has received the other's. The relay therefore invents the first hello:
    // the dialling end's in one run, the listener's in the other.
    for (const first of [B, A]) {
      server.removeAllListeners('connection');
      server.on('connection', (near) => {
        const far = dial(a);
        far.on('open', () => (first === B ? far : near).send(invented(first)));
        let [toNear, toFar] = [0, 0];
        far.on('message', (data) => {
          if (first === B || toNear++ > 0) near.send(String(data));
        });
        near.on('message', (data) => {
          if (first === A || toFar++ > 0) far.send(String(data));
        });
        near.on('close', () => far.terminate());
        far.on('close', () => near.terminate());
        for (const socket of [near, far]) socket.on('error', () => {});
      });
      const refusals = () =>
        a.reasons.filter((reason) => reason === 'it does not know the secret (cluster.secret)').length;
      const before = refusals();
      a.keep([B, b.port]);
      b.keep([A, port]);
      await until('the listener refuses, or both speak', () => refusals() > before || b.heard.length > 0);
      a.keep();
      b.keep();
    }
  });
  assert.deepEqual([a.heard, b.heard], [[], []]);
  await Promise.all([a.links.close(), b.links.close()]);
});
