import { HTTPParser } from 'http-parser-js';
import type { HttpAnswer } from '../support/openapi-document.js';

const CONTINUE = 100;
const SWITCHING = 101;

/** Splits the bytes received on a connection into answers. */
export class AnswerParser {
  /** Complete answers, in order; `100 Continue` does not count. */
  readonly answers: HttpAnswer[] = [];
  /** The reason why the bytes could not be parsed. */
  error: string | undefined;
  /** True if an answer has arrived only in part. */
  isBetween = false;
  /** True if the connection has become a WebSocket, after which no HTTP answers follow. */
  private isUpgraded = false;
  private readonly parser = new HTTPParser(HTTPParser.RESPONSE);

  /** `methodOf` returns the method of the nth request, because the answer to a HEAD has no body. */
  constructor(methodOf: (n: number) => string) {
    let status = 0;
    let contentType = '';
    let body: Buffer[] = [];
    this.parser[HTTPParser.kOnHeadersComplete] = ({ statusCode, headers }) => {
      status = statusCode;
      const name = headers.findIndex((word, n) => n % 2 === 0 && /^content-type$/i.test(word));
      contentType = name === -1 ? '' : (headers[name + 1] ?? '');
      body = [];
      this.isBetween = true;
      if (status === SWITCHING) {
        this.isUpgraded = true;
        this.isBetween = false;
        this.answers.push({ status, contentType, text: '' });
      }
      return status !== CONTINUE && methodOf(this.answers.length) === 'HEAD' ? 1 : 0;
    };
    this.parser[HTTPParser.kOnBody] = (chunk, offset, length) => {
      body.push(chunk.subarray(offset, offset + length));
    };
    this.parser[HTTPParser.kOnMessageComplete] = () => {
      this.isBetween = false;
      if (status !== CONTINUE) this.answers.push({ status, contentType, text: Buffer.concat(body).toString() });
    };
  }

  add(bytes: Buffer): void {
    if (this.isUpgraded) return;
    this.isBetween = true;
    const result = this.parser.execute(bytes);
    if (this.isUpgraded) this.isBetween = false;
    else this.check(result);
  }

  /** Call this when the server has closed the connection, which ends an answer without a length. */
  finish(): void {
    if (this.isBetween) this.check(this.parser.finish());
  }

  private check(result: unknown): void {
    if (result instanceof Error) this.error ??= result.message;
  }
}
