import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** An error for a body that ended before it was complete. The message is a sentence for the sender. */
export class BodyCut extends Error {
  override readonly name = 'BodyCut';
}

/**
 * Yields the chunks of a body that may take hours while data keeps arriving. The server's `connectionTimeout` ends a
 * body that stops arriving, but not one that this side is slow to read. Throws a `BodyCut` if the body stops arriving
 * or `stopping` is aborted. The connection stays open, so that the answer can report the progress.
 */
export async function* bodyUntilCut(
  body: Readable,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): AsyncGenerator<Buffer, void> {
  let isReading = false;
  let cut: (reason: string) => void = () => {};
  const isCut = new Promise<never>((_, reject) => {
    cut = (reason) => reject(new BodyCut(reason));
  });
  isCut.catch(() => {});
  const onSilence = () => {
    if (isReading) cut('nothing was received for too long');
    // Destroy the connection of a client that does not read its answer, because it would otherwise stay open forever.
    else if (response.writableNeedDrain) response.destroy();
  };
  const onStop = () => cut('the server is shutting down');
  // Without this listener, the server would destroy the connection.
  request.on('timeout', onSilence);
  response.on('timeout', onSilence);
  stopping.addEventListener('abort', onStop, { once: true });
  try {
    if (stopping.aborted) onStop();
    const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    for (;;) {
      const coming = chunks.next();
      // Handle a rejection of the pending read here, because nothing else does after a cut.
      coming.catch(() => {});
      isReading = true;
      const next = await Promise.race([coming, isCut]);
      isReading = false;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    isReading = false;
    stopping.removeEventListener('abort', onStop);
  }
}
