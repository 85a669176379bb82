import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
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
 * Of the settings of one listener, `name` in messages; undefined where none are set. Throws a `ConfigError` when they
 * cannot be used: the callback listener's library says no more than that.
 */
export function maybeTls({ certificateFile, keyFile }: Settings['tls'], name: string): Tls | undefined {
  if (certificateFile === null || keyFile === null) return undefined;
  const certificate = read(certificateFile, `${name}.certificateFile`);
  const key = read(keyFile, `${name}.keyFile`);
  try {
    createSecureContext({ cert: certificate });
  } catch (error) {
    throw new ConfigError(
      `${certificateFile} (${name}.certificateFile) has no certificate: ${(error as Error).message}`,
    );
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new ConfigError(
      `${keyFile} (${name}.keyFile) has no key that fits ${certificateFile} and needs no passphrase: ` +
        (error as Error).message,
    );
  }
  return { certificateFile, keyFile, certificate, key };
}

function read(file: string, setting: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${setting}): ${(error as Error).message}`);
  }
}
