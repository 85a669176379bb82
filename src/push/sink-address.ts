import { nameOfAddress } from './sink.js';

/** The address of a sink. `name` is human-readable, and contains no password. */
export type SinkAddress =
  | { readonly kind: 'stdout'; readonly name: string }
  | { readonly kind: 'webhook'; readonly name: string; readonly url: URL }
  | Server<'redis'>
  | Server<'nats'>
  | Server<'amqp'>;

interface Server<K extends string> {
  readonly kind: K;
  readonly name: string;
  /** The address of the server, without the part after #. */
  readonly url: string;
  /** The place of the events on the server: the part after #. Empty if there is none. */
  readonly place: string;
}

/** Hosts that a webhook may reach without TLS. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const WEBHOOK = 'webhook:';

/** Parses a sink's address. Throws an error whose message completes a sentence about the address. */
export function parseSinkAddress(text: string): SinkAddress {
  if (text === 'stdout') return { kind: 'stdout', name: text };
  if (text.startsWith(WEBHOOK)) return parseWebhook(text.slice(WEBHOOK.length));
  const url = parseUrl(text);
  switch (url.protocol) {
    case 'redis:':
    case 'rediss:':
      return { kind: 'redis', ...parts(url, 'the stream') };
    case 'nats:':
    case 'tls:':
      return { kind: 'nats', ...parts(url) };
    case 'amqp:':
    case 'amqps:':
      return { kind: 'amqp', ...parts(url, 'the exchange') };
    default:
      throw new Error(
        'it must be stdout, or begin with webhook:https://, redis://, rediss://, nats://, tls://, amqp:// or amqps://',
      );
  }
}

function parseWebhook(text: string): SinkAddress {
  const url = parseUrl(text);
  const isPrivate = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  if (!isPrivate) throw new Error('a webhook must use https, or http to this machine');
  return { kind: 'webhook', name: nameOfAddress(url), url };
}

/** Splits off the part after #. If `required` is given, which says what the part names, the part must not be empty. */
function parts(url: URL, required?: string): { name: string; url: string; place: string } {
  const place = decodeURIComponent(url.hash.slice(1));
  if (place === '' && required !== undefined) throw new Error(`it must end with # and the name of ${required}`);
  const server = new URL(url);
  server.hash = '';
  return { name: nameOfAddress(url), url: server.href, place };
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('it is not a URL');
  return new URL(text);
}
