const SHOWN_MAX = 4000;

/** A violation of the rules, which ends the run. */
export class Finding extends Error {
  override readonly name = 'Finding';

  constructor(
    readonly sentence: string,
    /** Bytes sent over the connection, part by part, and bytes received. */
    readonly sent: readonly Buffer[] = [],
    readonly received: Buffer = Buffer.alloc(0),
  ) {
    super(sentence);
  }

  /** The same finding with a description of its circumstances. */
  during(what: string): Finding {
    return new Finding(`${what}: ${this.sentence}`, this.sent, this.received);
  }

  /** A human-readable report. Bytes that a terminal cannot show are escaped. */
  describe(): string {
    if (this.sent.length === 0) return this.sentence;
    const parts = this.sent.map((part) => `  ${escaped(part)}`).join('\n');
    return `${this.sentence}\nsent:\n${parts}\nreceived:\n  ${escaped(this.received)}`;
  }
}

function escaped(bytes: Buffer): string {
  const text = JSON.stringify(bytes.subarray(0, SHOWN_MAX).toString('latin1')).replace(
    /[\x7f-\xff]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16)}`,
  );
  return bytes.length > SHOWN_MAX ? `${text} and ${bytes.length - SHOWN_MAX} more bytes` : text;
}
