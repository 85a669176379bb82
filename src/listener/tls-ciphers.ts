/**
 * Ciphers of all listeners: only AEAD with ephemeral key exchange. Node and OpenSSL also offer static RSA and CBC to
 * TLS 1.2 clients. With static RSA, a key stolen later can decrypt recorded traffic.
 */
export const TLS_CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** TLS 1.2 part, for libraries that configure TLS 1.3 separately. */
export const TLS12_CIPHERS = TLS_CIPHERS.split(':')
  .filter((name) => name.startsWith('ECDHE-'))
  .join(':');
