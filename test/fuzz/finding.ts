const SHOWN_MAX = 4000;

/** What must not be: ends the run. */
export class Finding extends Error {
  override readonly name = 'Finding';

  constructor(
    readonly sentence: string,
    /** What went into the connection, in its parts, and what came out of it. */
    readonly sent: readonly Buffer[] = [],
    readonly received: Buffer = Buffer.alloc(0),
  ) {
    super(sentence);
  }

  /** The same, with what was going on. */
  during(what: string): Finding {
    return new Finding(`${what}: ${this.sentence}`, this.sent, this.received);
  }

  /** For people; every byte that a terminal would not show as it is comes escaped. */
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
