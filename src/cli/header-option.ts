import type { Header } from '../simulate/client.js';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that `simulate` sets itself. */
const OWN = [
  'host',
  'content-type',
  'content-length',
  'connection',
  'transfer-encoding',
  'expect',
  'sapi-timestamp',
  'sapi-signature',
];

/** Parses NAME:VALUE. */
export function parseHeader(text: string): Header {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon);
  const value = text.slice(colon + 1).trim();
  if (colon < 0 || !NAME.test(name) || !VALUE.test(value)) throw new Error('It must be NAME:VALUE in ASCII');
  if (OWN.includes(name.toLowerCase())) throw new Error(`simulate sets ${name} itself`);
  return [name, value];
}
