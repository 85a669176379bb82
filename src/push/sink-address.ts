import { nameOfAddress } from './sink.js';

/** Address of a sink. `name` is human-readable, and contains no password. */
export type SinkAddress =
  | { readonly kind: 'stdout'; readonly name: string }
  | { readonly kind: 'webhook'; readonly name: string; readonly url: URL }
  | { readonly kind: 'redis'; readonly name: string; readonly url: string; readonly place: string };

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
    default:
      throw new Error('it must begin with webhook:https://, redis:// or rediss://, or be stdout');
  }
}

function parseWebhook(text: string): SinkAddress {
  const url = parseUrl(text);
  const isPrivate = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  if (!isPrivate) throw new Error('a webhook must use https, or http to this machine');
  return { kind: 'webhook', name: nameOfAddress(url), url };
}

/** Splits off the part after #, which names the place of the events on the server. */
function parts(url: URL, what: string): { name: string; url: string; place: string } {
  const place = decodeURIComponent(url.hash.slice(1));
  if (place === '') throw new Error(`it must end with # and the name of ${what}`);
  const server = new URL(url);
  server.hash = '';
  return { name: nameOfAddress(url), url: server.href, place };
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('it is not a URL');
  return new URL(text);
}
