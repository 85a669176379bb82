import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PushedEvent } from '../../src/push/sink.js';

const WAIT_MS = 50;

/** The operator API of a walletd that has no token and one feed, whose positions are the numbers of its events. */
export class FakeFeedServer {
  readonly events: PushedEvent[] = [];
  /** Bodies of the requests that created the feed. */
  readonly definitions: unknown[] = [];
  acknowledged = 0;
  /** Status of the answer to every request. */
  refusal: number | undefined = undefined;
  /** Code in the body of a refusal. */
  refusalCode: string | undefined = undefined;
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<FakeFeedServer> {
    const fake = new FakeFeedServer();
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const send = (status: number, answer: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    };
    const { pathname, searchParams } = new URL(request.url as string, this.url);
    if (this.refusal !== undefined) send(this.refusal, { detail: 'refused', code: this.refusalCode });
    else if (pathname === '/v1/feeds') {
      this.definitions.push(JSON.parse(body));
      send(201, {});
    } else if (pathname.endsWith('/ack')) {
      this.acknowledged = Number(JSON.parse(body).position);
      send(200, {});
    } else {
      const begin = this.acknowledged;
      if (begin === this.events.length) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      const events = this.events.slice(begin, begin + Number(searchParams.get('limit')));
      send(200, { events, next: String(begin + events.length) });
    }
  }
}
