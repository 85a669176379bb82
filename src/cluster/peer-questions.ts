import type { Cancel, Timers } from '../base/timers.js';
import type { PeerMessage } from './peer-protocol.js';

interface Question<T> {
  readonly tag: string;
  readonly answer: (answer: T | undefined) => void;
}

/** Questions to peers. Each question has an id and gets at most one answer. */
export class PeerQuestions<T> {
  private readonly waiting = new Map<number, Question<T>>();
  private nextId = 1;

  constructor(
    private readonly send: (tag: string, message: PeerMessage) => boolean,
    private readonly timers: Timers,
  ) {}

  /** Asks the peer. Undefined if there is no answer in time, or the link is lost first. */
  async ask(tag: string, waitMs: number, messageOf: (id: number) => PeerMessage): Promise<T | undefined> {
    const id = this.nextId++;
    let cancel: Cancel = () => {};
    const answer = await new Promise<T | undefined>((resolve) => {
      this.waiting.set(id, { tag, answer: resolve });
      cancel = this.timers.after(waitMs, () => resolve(undefined));
      if (!this.send(tag, messageOf(id))) resolve(undefined);
    });
    cancel();
    this.waiting.delete(id);
    return answer;
  }

  answered(id: number, answer: T): void {
    this.waiting.get(id)?.answer(answer);
  }

  /** Ends the wait of a question that the peer's release does not know. */
  unknown(id: number): void {
    this.waiting.get(id)?.answer(undefined);
  }

  linkLost(lost: string): void {
    for (const { tag, answer } of this.waiting.values()) if (tag === lost) answer(undefined);
  }
}
