import type { Clock } from '../../base/clock.js';

/**
 * Number of signed-out sessions remembered per operator. Beyond this number, all of the operator's older sessions end.
 */
const SESSIONS_MAX = 100;

/** One operator's sessions that were signed out before they expired. */
export interface SignedOut {
  readonly name: string;
  /** Every session that expires at or before this time counts as signed out. Milliseconds since 1970. */
  readonly untilMs: number;
  /** Other signed-out sessions, with their expiry times. */
  readonly sessions: readonly (readonly [id: string, endsMs: number])[];
}

interface Ended {
  untilMs: number;
  readonly sessions: Map<string, number>;
}

export interface SignOutDeps {
  /** Called with sign-outs that are new to this node. */
  readonly send: (news: readonly SignedOut[]) => void;
  /** Called with all remembered sign-outs. */
  readonly keep: (all: readonly SignedOut[]) => void;
  readonly clock: Clock;
}

/**
 * Console sessions that were signed out but have not yet expired. Memory is bounded, but no sign-out is forgotten: if
 * an operator has more than a hundred of them, that operator's older sessions all end, and other operators are not
 * affected. Nodes send each other every new sign-out, and all of them when they connect, so lost or repeated messages
 * do no harm.
 */
export class SignedOutSessions {
  private readonly byName = new Map<string, Ended>();
  private readonly listeners: (() => void)[] = [];

  constructor(
    known: readonly SignedOut[],
    private readonly deps: SignOutDeps,
  ) {
    for (const one of known) this.merge(one);
  }

  get all(): readonly SignedOut[] {
    this.forgetEnded();
    return [...this.byName].map(([name, { untilMs, sessions }]) => ({ name, untilMs, sessions: [...sessions] }));
  }

  has(name: string, id: string, endsMs: number): boolean {
    const ended = this.byName.get(name);
    return ended !== undefined && (endsMs <= ended.untilMs || ended.sessions.has(id));
  }

  /** Ends a session on this node immediately, and informs the other nodes. */
  add(name: string, id: string, endsMs: number): void {
    this.note([{ name, untilMs: 0, sessions: [[id, endsMs]] }]);
  }

  /** Records sign-outs, including those from other nodes. */
  note(signedOut: readonly SignedOut[]): void {
    const news = signedOut.filter((one) => this.merge(one));
    if (news.length === 0) return;
    for (const listener of this.listeners) listener();
    this.deps.send(news);
    this.deps.keep(this.all);
  }

  onNews(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Returns true if the sign-out was news to this node. */
  private merge({ name, untilMs, sessions }: SignedOut): boolean {
    const nowMs = this.deps.clock.now();
    const ended = this.byName.get(name) ?? { untilMs: 0, sessions: new Map<string, number>() };
    let isNew = untilMs > Math.max(ended.untilMs, nowMs);
    if (isNew) ended.untilMs = untilMs;
    for (const [id, endsMs] of sessions) {
      if (endsMs <= Math.max(ended.untilMs, nowMs) || ended.sessions.has(id)) continue;
      ended.sessions.set(id, endsMs);
      isNew = true;
    }
    if (!isNew) return false;
    this.byName.set(name, ended);
    for (const [id, endsMs] of ended.sessions) {
      if (endsMs <= Math.max(ended.untilMs, nowMs)) ended.sessions.delete(id);
    }
    while (ended.sessions.size > SESSIONS_MAX) raiseUntil(ended);
    return true;
  }

  private forgetEnded(): void {
    const nowMs = this.deps.clock.now();
    for (const [name, { untilMs, sessions }] of this.byName) {
      for (const [id, endsMs] of sessions) if (endsMs <= nowMs) sessions.delete(id);
      if (untilMs <= nowMs && sessions.size === 0) this.byName.delete(name);
    }
  }
}

/** Drops the sessions that expire first, and raises `untilMs` to their expiry time. */
function raiseUntil(ended: Ended): void {
  ended.untilMs = Math.min(...ended.sessions.values());
  for (const [id, endsMs] of ended.sessions) if (endsMs <= ended.untilMs) ended.sessions.delete(id);
}
