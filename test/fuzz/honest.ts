import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Finding } from './finding.js';

/** Answers that a node may give while its machine is busy: it is not ready, or the probe's headers came too late. */
const BUSY = [503, 408];
const BUSY_MS_MAX = 60_000;
const REST_MS = 50;

/** True if the attackers continue. */
type GoesOn = () => boolean;

/** An honest caller alongside the attackers. */
export interface Honest {
  /** Number of answers that the caller has received. */
  readonly answers: number;
  readonly repeats: number;
  readonly probes: number;
  /** Throws a `Finding` at a wrong answer. */
  play(goesOn: GoesOn): Promise<void>;
  close(): void;
}

/** A load balancer or supervisor that probes a process continuously. */
export class Prober implements Honest {
  readonly answers = 0;
  readonly repeats = 0;
  probes = 0;

  /** `expected` is the HTTP status of each path. */
  constructor(
    private readonly url: string,
    private readonly expected: Readonly<Record<string, number>>,
    private readonly timeoutMs: number,
  ) {}

  async play(goesOn: GoesOn): Promise<void> {
    do {
      for (const [path, status] of Object.entries(this.expected)) await this.probe(path, status);
      await delay(REST_MS);
    } while (goesOn());
  }

  close(): void {}

  /**
   * On a busy machine, a node may miss heartbeats and be unready for a while. Each probe must be answered, and the right
   * answer must come back.
   */
  private async probe(path: string, expected: number): Promise<void> {
    const endMs = performance.now() + BUSY_MS_MAX;
    for (;;) {
      const status = await this.statusOf(path).catch((error: Error) => error);
      this.probes++;
      if (status instanceof Error) throw new Finding(`a probe of ${path} got no answer: ${status}`);
      if (status === expected) return;
      if (!BUSY.includes(status ?? 0) || performance.now() > endMs)
        throw new Finding(`a probe of ${path} got HTTP ${status}`);
      await delay(REST_MS);
    }
  }

  /** Uses a new connection, because a kept-alive connection may be closed as idle at the moment when it is reused. */
  private async statusOf(path: string): Promise<number | undefined> {
    const sent = get(this.url + path, { agent: false, signal: AbortSignal.timeout(this.timeoutMs) });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  }
}

/** Several honest callers of the same process. */
export class Company implements Honest {
  constructor(private readonly members: readonly Honest[]) {}

  get answers(): number {
    return this.sum(({ answers }) => answers);
  }

  get repeats(): number {
    return this.sum(({ repeats }) => repeats);
  }

  get probes(): number {
    return this.sum(({ probes }) => probes);
  }

  async play(goesOn: GoesOn): Promise<void> {
    await Promise.all(this.members.map((member) => member.play(goesOn)));
  }

  close(): void {
    for (const member of this.members) member.close();
  }

  private sum(of: (member: Honest) => number): number {
    return this.members.reduce((sum, member) => sum + of(member), 0);
  }
}
