/** Statistics for one setting. */
export class Counts {
  messages = 0;
  repeats = 0;
  histories = 0;
  listings = 0;
  /** Number of messages that were refused at first and accepted later. */
  acceptedLater = 0;
  /** Number of answers to repeats, by code. */
  readonly codes = new Map<number, number>();

  countRepeat(code: number): void {
    this.repeats++;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  describe(): string {
    const answers = [0, 20002, 20003, 20004].map((code) => `${code}: ${this.codes.get(code) ?? 0}`).join(', ');
    return `${this.histories} histories, ${this.messages} messages (${this.acceptedLater} accepted after a refusal), ${this.repeats} repeats (answers ${answers}; ${this.listings} with all transactions compared)`;
  }
}
