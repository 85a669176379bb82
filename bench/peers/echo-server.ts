import fastJson from 'fast-json-stringify';
import { silentLogger } from '../../src/base/logger.js';
import { type HttpLibraryChoice, loadHttpLibrary, mustListen } from '../../src/http/http-library.js';

const number = { type: 'number' } as const;
const string = { type: 'string' } as const;
const toJson = fastJson({
  type: 'object',
  properties: {
    id: string,
    statusCode: { type: 'integer' },
    timestampMillis: { type: 'integer' },
    productId: string,
    currency: string,
    balanceBefore: number,
    balanceAfter: number,
    username: string,
  },
});

/** An answer with the format of a callback's answer. */
export function echoOf(text: string): string {
  const { id, productId, currency, username } = JSON.parse(text);
  const balances = { balanceBefore: 100.5, balanceAfter: 90.5 };
  return toJson({ id, statusCode: 0, timestampMillis: Date.now(), productId, currency, ...balances, username });
}

/**
 * Runs an echo server: passes each request to `carryOut`, and prints its address to standard output. If `outlives` is
 * true, `carryOut` may use the bytes after it returns.
 */
export async function serveEcho(
  outlives: boolean,
  carryOut: (bytes: Buffer, answer: (body: string) => void) => void,
): Promise<void> {
  const choice = (process.env.WALLETD_HTTP_LIBRARY ?? 'auto') as HttpLibraryChoice;
  const library = await loadHttpLibrary(choice, silentLogger);
  const app = library.createApp(undefined);
  app.post('/*', (res) => {
    let isAborted = false;
    res.onAborted(() => {
      isAborted = true;
    });
    res.onData((chunk) => {
      // `chunk` is valid only during this call, so copy it if the bytes must outlive the call.
      carryOut(Buffer.from(outlives ? chunk.slice(0) : chunk), (body) => {
        if (isAborted) return;
        res.cork(() => {
          res.writeHeader('Content-Type', 'application/json');
          res.end(body);
        });
      });
    });
  });
  const { port } = await mustListen(library, app, '127.0.0.1', 0);
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
}
