/** Units per whole currency unit: walletd keeps four decimals. */
export const UNITS = 10 ** 4;

const DECIMALS = 4;
const STATUS_AT = 'HTTP/1.1 '.length;
const HEAD_END = '\r\n\r\n';
const OK = '"statusCode":0,';
/** An answer to checkBalance has this field instead of the two above. */
const BALANCE = '"balance":';
const BEFORE = '"balanceBefore":';
const AFTER = '"balanceAfter":';
const ZERO = '0'.charCodeAt(0);

/**
 * HTTP response whose bytes are searched directly, because parsing the JSON would cost the generator more than sending
 * the request.
 */
export class Answer {
  readonly text: string;
  private readonly bodyAt: number;

  /** Answers are small and arrive in one chunk, so a partial one is an error. */
  constructor(
    private readonly bytes: Buffer,
    length: number,
  ) {
    this.text = bytes.toString('latin1', 0, length);
    this.bodyAt = this.text.indexOf(HEAD_END) + HEAD_END.length;
  }

  /** True if the server was overloaded or the outcome is unknown. The request may be retried. */
  get isBusy(): boolean {
    return this.text.startsWith('503', STATUS_AT);
  }

  /** `line` is in lower case and includes the line breaks around it. */
  hasHeader(line: string): boolean {
    return this.text.slice(0, this.bodyAt).toLowerCase().includes(line);
  }

  get isSuccess(): boolean {
    return this.text.includes(OK, this.bodyAt);
  }

  /** True if the body begins with these bytes of its request: the request's ID. */
  echoes(request: Buffer, from: number, to: number): boolean {
    return request.compare(this.bytes, this.bodyAt, this.bodyAt + to - from, from, to) === 0;
  }

  /** The balance before the callback, in units; NaN if the answer has no such field. */
  get before(): number {
    return this.amountAfter(BEFORE);
  }

  get after(): number {
    return this.amountAfter(AFTER);
  }

  private amountAfter(name: string): number {
    const at = this.text.indexOf(name, this.bodyAt);
    if (at >= 0) return unitsAt(this.text, at + name.length);
    const balanceAt = this.text.indexOf(BALANCE, this.bodyAt);
    return balanceAt < 0 ? Number.NaN : unitsAt(this.text, balanceAt + BALANCE.length);
  }
}

/** Converts the decimal number at `start` to units without using floats. */
export function unitsAt(text: string, start: number): number {
  const isNegative = text[start] === '-';
  let units = 0;
  let pointAt: number | undefined;
  let at = isNegative ? start + 1 : start;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0 && digit <= 9) units = units * 10 + digit;
    else if (text[at] === '.') pointAt = at;
    else break;
  }
  const decimals = pointAt === undefined ? 0 : at - pointAt - 1;
  units *= 10 ** (DECIMALS - decimals);
  return isNegative ? -units : units;
}
