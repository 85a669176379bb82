import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { SignedOut } from '../../admin/console/signed-out-sessions.js';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { UnknownFormatError } from '../../store/format/format-error.js';
import { parseNodeFile } from '../../store/format/node-file.js';

/**
 * Stores signed-out sessions in the node's folder. Without this record, a stolen cookie would become valid again after
 * a restart.
 */
export class SignedOutRecord {
  private readonly path: string;

  /** `store` distinguishes stores that share a folder. */
  constructor(
    folder: string,
    store: string,
    private readonly log: Logger,
  ) {
    this.path = join(folder, `signed-out-${crc32(store).toString(16).padStart(8, '0')}.json`);
  }

  /** The recorded sign-outs; empty if the file is missing or unreadable. */
  read(): readonly SignedOut[] {
    try {
      const { signedOut } = parseNodeFile<{ signedOut: unknown }>(this.path, readFileSync(this.path, 'utf8'));
      if (Array.isArray(signedOut) && signedOut.every(isSignedOut)) return signedOut;
      throw new Error('it contains something other than sessions');
    } catch (error) {
      if (error instanceof UnknownFormatError) throw error;
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      this.log.warn(
        { code: 'sign-outs-unreadable', path: this.path, error: messageOf(error) },
        'cannot read the recorded sign-outs',
      );
      return [];
    }
  }

  /** Records the sign-outs. Does not throw. If the write fails, a sign-out lasts only until this process ends. */
  write(signedOut: readonly SignedOut[]): void {
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      const temporary = `${this.path}.${process.pid}`;
      writeFileSync(temporary, JSON.stringify({ signedOut }), { flush: true });
      renameSync(temporary, this.path);
    } catch (error) {
      this.log.warn(
        { code: 'sign-out-not-kept', path: this.path, error: messageOf(error) },
        'cannot record a sign-out',
      );
    }
  }
}

function isSignedOut(value: unknown): value is SignedOut {
  const { name, untilMs, sessions } = (value ?? {}) as Partial<SignedOut>;
  const isSession = (one: unknown) => Array.isArray(one) && typeof one[0] === 'string' && Number.isSafeInteger(one[1]);
  return (
    typeof name === 'string' && Number.isSafeInteger(untilMs) && Array.isArray(sessions) && sessions.every(isSession)
  );
}
