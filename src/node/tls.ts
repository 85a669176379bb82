import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../base/message-of.js';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';

/** A certificate and its key that fit each other. */
export interface Tls {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/**
 * The certificate and key of one listener, whose settings messages call `name`; undefined where none are set. Throws a
 * `ConfigError` that says which of the two is wrong: the callback listener's library does not.
 */
export function maybeTls({ certificateFile, keyFile }: Settings['tls'], name: string): Tls | undefined {
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
      `${keyFile} (${name}.keyFile) has no key that fits ${certificateFile} and needs no passphrase: ` +
        messageOf(error),
    );
  }
  return { certificateFile, keyFile, certificate, key };
}

function read(file: string, setting: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${setting}): ${messageOf(error)}`);
  }
}
