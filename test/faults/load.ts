import { setTimeout as delay } from 'node:timers/promises';
import { type CallbackAnswer, PlatformClient } from '../support/client.js';
import { betAndSettle, type PlayRound, type Step } from './rounds.js';

export const PLAYERS = Array.from({ length: 40 }, (_, i) => `p${i}`);
export const OPENING_BALANCE = 1_000_000;
export const BUSY = 50_001;

const CONNECTIONS = 16;
/** Pause between two requests on a connection, even if the first one was not answered. */
const PAUSE_MS = 6;
const REST_MS = 40;
const REQUEST_MS = 10_000;
const REPEAT_MS = 20_000;

/** The server that a load sends requests to. */
export interface Target {
  readonly callbackUrl: string;
  readonly adminUrl: string;
  readonly pid: number;
}

/**
 * One request, as remembered by the platform.
 *
 *   answered   money has moved
 *   busy       503 and 50001: it may have moved
 *   broken     the connection broke: it may have moved
 */
export interface Sent extends Step {
  readonly username: string;
  readonly sentMs: number;
  /** The ID of the process that received the request. */
  readonly pid: number;
  outcome: 'pending' | 'answered' | 'busy' | 'broken';
  answer: CallbackAnswer | undefined;
  endedMs: number;
  /** The answer to the same request when repeated after the fault. */
  repeat: CallbackAnswer | undefined;
}

let loads = 0;

/** A platform that plays rounds on many connections, never reuses an ID, and remembers every request. */
export class Load {
  readonly sent: Sent[] = [];
  private readonly name = `l${++loads}`;
  private readonly connections: Promise<void>[];
  private client: PlatformClient;
  private isOver = false;
  private isResting = false;
  private unexpected: Error | undefined = undefined;

  constructor(
    private target: Target,
    private readonly pauseMs = PAUSE_MS,
    private readonly playRound: PlayRound = betAndSettle,
  ) {
    this.client = new PlatformClient(target.callbackUrl, REQUEST_MS);
    this.connections = Array.from({ length: CONNECTIONS }, (_, i) => this.play(i));
  }

  /** Pauses the load until `moveTo` names its next server. Tests call this before an outage that they expect. */
  rest(): void {
    this.isResting = true;
  }

  moveTo(target: Target): void {
    this.isResting = false;
    this.client.close();
    this.client = new PlatformClient(target.callbackUrl, REQUEST_MS);
    this.target = target;
  }

  /** Waits for pending requests. Rejects if any answer was not allowed. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.connections);
    this.client.close();
    if (this.unexpected !== undefined) throw this.unexpected;
  }

  count(outcome: Sent['outcome']): number {
    return this.sent.filter((one) => one.outcome === outcome).length;
  }

  /** The time of the first answer that arrived after `ms`. Both are `performance.now()` times. */
  firstAnswerAfter(ms: number): number | undefined {
    return this.sent.find((one) => one.outcome === 'answered' && one.endedMs > ms)?.endedMs;
  }

  /** Repeats all requests, or only these, until each has an answer. */
  async repeatAll(target: Target, which: readonly Sent[] = this.sent): Promise<void> {
    const client = new PlatformClient(target.callbackUrl, REQUEST_MS);
    const endMs = Date.now() + REPEAT_MS;
    const rest = [...which];
    const repeat = async () => {
      for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        const { endpoint, body } = one;
        one.repeat = await client.post(endpoint, body).catch(() => undefined);
        if (one.repeat !== undefined && one.repeat.statusCode !== BUSY) continue;
        if (Date.now() > endMs) throw new Error(`no answer to a repeat in ${REPEAT_MS} ms`);
        rest.push(one);
        await delay(REST_MS);
      }
    };
    try {
      await Promise.all(Array.from({ length: CONNECTIONS }, repeat));
    } finally {
      client.close();
    }
  }

  private async play(connection: number): Promise<void> {
    for (let i = 0; !this.isOver; i++) {
      while (this.isResting && !this.isOver) await delay(REST_MS);
      const username = PLAYERS[(connection + i) % PLAYERS.length] as string;
      const id = `${this.name}-c${connection}-${i}`;
      for (const step of this.playRound(username, id, i)) {
        if (this.isOver || !(await this.send(username, step))) break;
      }
    }
  }

  private async send(username: string, step: Step): Promise<boolean> {
    const { endpoint, body } = step;
    const { pid } = this.target;
    const asked = { ...step, username, sentMs: performance.now(), pid };
    const one: Sent = { ...asked, outcome: 'pending', answer: undefined, endedMs: 0, repeat: undefined };
    this.sent.push(one);
    try {
      const answer = await this.client.post(endpoint, body);
      one.outcome = answer.statusCode === BUSY ? 'busy' : 'answered';
      if (one.outcome === 'answered') one.answer = answer;
      if (answer.statusCode !== 0 && answer.statusCode !== BUSY) {
        this.unexpected = new Error(`${endpoint} was answered ${JSON.stringify(answer)}`);
      }
    } catch {
      one.outcome = 'broken';
    }
    one.endedMs = performance.now();
    await delay(one.outcome === 'answered' ? this.pauseMs : REST_MS);
    return one.outcome === 'answered';
  }
}

/** Longest period in which none of the players selected by `whom` got an answer. */
export function longestSilenceMs(sent: readonly Sent[], whom: (username: string) => boolean = () => true): number {
  const answered = sent.filter(({ outcome, username }) => outcome === 'answered' && whom(username));
  const times = answered.map(({ endedMs }) => endedMs).sort((a, b) => a - b);
  return Math.max(0, ...times.slice(1).map((time, i) => Math.round(time - (times[i] as number))));
}

/** Summarizes in one sentence what the platform has sent and received. */
export function describe(loads: readonly Load[]): string {
  const sum = (outcome: Sent['outcome']) => loads.reduce((count, load) => count + load.count(outcome), 0);
  const silenceMs = longestSilenceMs(loads.flatMap(({ sent }) => sent));
  const unknown = `${sum('busy')} got 503, ${sum('broken')} connections broke`;
  return `${sum('answered')} answers, ${unknown}, longest time without service ${silenceMs} ms`;
}
