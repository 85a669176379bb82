import { silentLogger } from '../../src/base/logger.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
import { type PeerTls, SocketLinks } from '../../src/peer/socket-links.js';

export const SECRET = 'a-secret-of-all-nodes';
export const STORE_ID = 'store';
export const [A, B] = ['aaaaaaaa', 'bbbbbbbb'];

export interface Options {
  readonly tag: string;
  readonly secret?: string;
  readonly storeId?: string;
  readonly tls?: PeerTls;
}

/** One end of links. Records everything that it receives. */
export class End {
  readonly heard: string[] = [];
  readonly reasons: string[] = [];
  /** Codes of logged warnings. */
  readonly warned: string[] = [];
  readonly messages: PeerMessage[] = [];
  readonly links: SocketLinks;
  readonly counts = new ConnectionCounts();
  port = 0;

  constructor({ tag, secret = SECRET, storeId = STORE_ID, tls }: Options) {
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
        log: {
          ...silentLogger,
          info: note,
          debug: note,
          warn: (fields) => this.warned.push(String((fields as { code?: unknown }).code)),
        },
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

/** Runs a test with two ends that know each other's address. */
export async function between(a: Options, b: Options, run: (a: End, b: End) => Promise<void>): Promise<void> {
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
