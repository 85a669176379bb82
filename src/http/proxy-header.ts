const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const FIXED_BYTES = 16;
const VERSION = 2;
const PROXY_COMMAND = 1;
/** Number of bytes that addresses and ports take, for TCP over IPv4 and over IPv6. */
const FAMILIES: ReadonlyMap<number, { readonly addressBytes: number; readonly bytes: number }> = new Map([
  [0x11, { addressBytes: 4, bytes: 12 }],
  [0x21, { addressBytes: 16, bytes: 36 }],
]);
/** Extensions beyond this size are refused. Load balancers add a few hundred bytes. */
const BYTES_MAX = 4096;

export interface ProxyHeader {
  /** 0 if the connection does not begin with a header. */
  readonly byteLength: number;
  /** Client's address; empty if the header has none, for example for the proxy's own health check. */
  readonly address: Uint8Array;
}

const NO_HEADER: ProxyHeader = { byteLength: 0, address: new Uint8Array() };

/**
 * Reads the header of the PROXY protocol, version 2, from a connection's first bytes:
 *
 *     signature (12) | version, command (1) | family (1) | length (2) | addresses, ports and extensions (length)
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const known = Math.min(bytes.length, SIGNATURE.length);
  if (SIGNATURE.compare(bytes, 0, known, 0, known) !== 0) return NO_HEADER;
  if (bytes.length < FIXED_BYTES) return 'incomplete';
  const kind = bytes.readUInt8(12);
  const length = bytes.readUInt16BE(14);
  if (kind >> 4 !== VERSION || (kind & 0x0f) > PROXY_COMMAND || length > BYTES_MAX) return 'invalid';
  const byteLength = FIXED_BYTES + length;
  if (bytes.length < byteLength) return 'incomplete';
  const family = FAMILIES.get(bytes.readUInt8(13));
  if ((kind & 0x0f) !== PROXY_COMMAND || family === undefined) return { ...NO_HEADER, byteLength };
  if (length < family.bytes) return 'invalid';
  return { byteLength, address: new Uint8Array(bytes.subarray(FIXED_BYTES, FIXED_BYTES + family.addressBytes)) };
}
