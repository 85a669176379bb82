import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Bytes of an address: 4 for IPv4, 16 for IPv6. An IPv4-mapped IPv6 address counts as IPv4. */
export type Address = Uint8Array;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const MAPPED_BITS = 96;
const BITS = 8;

interface Network {
  readonly bytes: Address;
  readonly bits: number;
}

/** Parses an address. Returns undefined if the text is not one. */
export function parseAddress(text: string): Address | undefined {
  // Check the notation first, because the parser also accepts 127.1, 0x7f.0.0.1 and zone IDs.
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  return Uint8Array.from(ipaddr.process(text).toByteArray());
}

/** The address from a socket's 4 or 16 bytes; undefined if the socket provides none. */
export function addressOf(bytes: Uint8Array): Address | undefined {
  if (bytes.length !== IPV6_BYTES) return bytes.length === IPV4_BYTES ? bytes : undefined;
  return isMapped(bytes) ? bytes.subarray(IPV6_BYTES - IPV4_BYTES) : bytes;
}

/** The human-readable form of the address. */
export function formatAddress(address: Address): string {
  return ipaddr.fromByteArray([...address]).toString();
}

/** A set of networks. */
export class AddressList {
  private constructor(private readonly networks: readonly Network[]) {}

  /**
   * Parses addresses and networks (`10.0.0.0/8`, `2001:db8::/32`), separated by commas or blanks. Throws an `Error`
   * that names the first invalid one.
   */
  static parse(text: string): AddressList {
    const words = text.split(/[\s,]+/).filter((word) => word !== '');
    return new AddressList(words.map(mustNetwork));
  }

  get size(): number {
    return this.networks.length;
  }

  has(address: Address): boolean {
    for (const network of this.networks) if (contains(network, address)) return true;
    return false;
  }
}

function mustNetwork(text: string): Network {
  const [, host = text, length] = /^(.*)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(host);
  const address = parseAddress(host);
  if (address === undefined) throw new Error(`${text} is neither an address nor a network such as 10.0.0.0/8`);
  const bitsMax = (family === 4 ? IPV4_BYTES : IPV6_BYTES) * BITS;
  const given = length === undefined ? bitsMax : Number(length);
  // A network of IPv4-mapped addresses is an IPv4 network.
  const bits = family === 6 && address.length === IPV4_BYTES ? given - MAPPED_BITS : given;
  if (given > bitsMax || bits < 0) throw new Error(`${text} cannot have a prefix of ${given} bits`);
  const network = { bytes: address.map((byte, n) => byte & maskOf(bits, n)), bits };
  if (network.bytes.some((byte, n) => byte !== address[n])) {
    throw new Error(`${text} has bits after its prefix: ${formatAddress(network.bytes)}/${bits} is the network`);
  }
  return network;
}

/** The mask for byte `n` of a prefix that is `bits` long. */
function maskOf(bits: number, n: number): number {
  const covered = Math.min(Math.max(bits - n * BITS, 0), BITS);
  return 0xff & (0xff << (BITS - covered));
}

function contains({ bytes, bits }: Network, address: Address): boolean {
  if (bytes.length !== address.length) return false;
  for (let n = 0; n * BITS < bits; n++) {
    if (((bytes[n] as number) ^ (address[n] as number)) & maskOf(bits, n)) return false;
  }
  return true;
}

function isMapped(bytes: Uint8Array): boolean {
  for (let n = 0; n < 10; n++) if (bytes[n] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}
