import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { decodeText } from '../../base/decode-text.js';
import { messageOf } from '../../base/message-of.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';

/** A certificate and its matching key. */
export interface Tls {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: Buffer;
  readonly key: Buffer;
  /**
   * The earliest time at which a certificate in the file expires, whether it is the listener's own or part of its
   * chain.
   */
  readonly endsMs: number;
}

const PEM_CERTIFICATE =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * The certificate and key of one listener, which error messages call `name`. Undefined if none are set. Throws a
 * `ConfigError` that names the one that is wrong, because the callback listener's library does not name it.
 */
export function loadTls({ certificateFile, keyFile }: Settings['tls'], name: string): Tls | undefined {
  if (certificateFile === null || keyFile === null) return undefined;
  const certificate = read(certificateFile, `${name}.certificateFile`);
  const key = read(keyFile, `${name}.keyFile`);
  try {
    createSecureContext({ cert: certificate });
  } catch (error) {
    throw new ConfigError(`${certificateFile} (${name}.certificateFile) has no certificate: ${messageOf(error)}`);
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new ConfigError(
      `${keyFile} (${name}.keyFile) has no key that matches ${certificateFile} and needs no passphrase: ` +
        messageOf(error),
    );
  }
  return { certificateFile, keyFile, certificate, key, endsMs: endOf(certificate) };
}

function endOf(pem: Buffer): number {
  const blocks = pem.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  return Math.min(...blocks.map((block) => Date.parse(new X509Certificate(block).validTo)));
}

function read(file: string, setting: string): Buffer {
  try {
    const bytes = readFileSync(file);
    // The callback listener's library reads the file itself. It would treat a byte order mark as part of the first
    // line.
    if (decodeText(bytes).length < bytes.toString().length) {
      throw new Error('it begins with a byte order mark: save it without one');
    }
    return bytes;
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${setting}): ${messageOf(error)}`);
  }
}
