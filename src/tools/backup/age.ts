import { readFile } from 'node:fs/promises';
import { Decrypter, Encrypter } from 'age-encryption';
import { decodeText } from '../../base/decode-text.js';
import { ToolError } from '../store-reader.js';
import { type BackupSource, ByteReader } from './backup-source.js';

/*
 * Encryption in the age format (https://age-encryption.org/v1). `age -d` decrypts files that walletd encrypts, and
 * walletd decrypts files that age encrypts. Data is processed in pieces of 64 KiB, so memory use does not depend on the
 * size of the backup.
 */

/** The first bytes of a file in the age format. */
const INTRODUCTION = 'age-encryption.org/';

/**
 * Reads the identities file, and returns a function that decrypts a source. The function returns an unencrypted source
 * unchanged.
 */
export async function opening(identityFile: string): Promise<(source: BackupSource) => BackupSource> {
  const lines = decodeText(await readFile(identityFile))
    .split('\n')
    .map((line) => line.trim());
  const decrypter = new Decrypter();
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw new ToolError(`${identityFile} contains no age identity`);
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new ToolError(`${identityFile} contains a line that is not an age identity`);
    }
  }
  return (source) => ({ ...source, size: async () => undefined, open: () => decrypted(source, decrypter) });
}

/** Returns the recipient if it is valid. Throws a `ToolError` otherwise. */
export function checkRecipient(recipient: string): string {
  try {
    new Encrypter().addRecipient(recipient);
    return recipient;
  } catch {
    throw new ToolError('it is not the public key of an age identity, which begins with age1');
  }
}

/** Encrypts the bytes for these recipients. */
export async function* encrypted(bytes: AsyncIterable<Buffer>, recipients: readonly string[]): AsyncGenerator<Buffer> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  yield* piecesOf(await encrypter.encrypt(streamOf(bytes)));
}

async function* decrypted(source: BackupSource, decrypter: Decrypter): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source.open());
  try {
    const beginning = await reader.read(INTRODUCTION.length);
    if (beginning?.toString('latin1') !== INTRODUCTION) return yield* following(beginning, reader);
    yield* piecesOf(await decrypter.decrypt(streamOf(following(beginning, reader))));
  } catch (error) {
    if (isSystemError(error)) throw error;
    throw new ToolError(`${source.name} cannot be decrypted: ${(error as Error).message}`);
  } finally {
    await reader.close();
  }
}

async function* following(beginning: Buffer | undefined, reader: ByteReader): AsyncGenerator<Buffer> {
  if (beginning !== undefined) yield beginning;
  for (;;) {
    const some = await reader.readSome();
    if (some === undefined) return;
    yield some;
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as { syscall?: unknown }).syscall === 'string';
}

function streamOf(bytes: AsyncIterable<Buffer>): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
