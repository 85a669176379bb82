/** Cancels a timer. May be called more than once. */
export type Cancel = () => void;

/** Schedules work. Periodic work does not keep the process alive. */
export interface Timers {
  every(ms: number, run: () => void): Cancel;
  after(ms: number, run: () => void): Cancel;
  /** Runs `run` once all events of this event-loop iteration have been handled. */
  defer(run: () => void): void;
}

/**
 * Timers whose intervals are multiples of this value wake the process together, because wake-ups are most of the cost
 * of an idle node.
 */
const TICK_MS = 50;

interface Repeated {
  readonly run: () => void;
  readonly ticks: number;
  ticksLeft: number;
}

const repeated = new Set<Repeated>();
let ticker: NodeJS.Timeout | undefined;

function everyWakeUp(ticks: number, run: () => void): Cancel {
  const one = { run, ticks, ticksLeft: ticks };
  repeated.add(one);
  ticker ??= setInterval(runDue, TICK_MS).unref();
  return () => {
    repeated.delete(one);
    if (repeated.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };
}

function runDue(): void {
  for (const one of [...repeated]) {
    if (!repeated.has(one) || --one.ticksLeft > 0) continue;
    one.ticksLeft = one.ticks;
    one.run();
  }
}

export const systemTimers: Timers = {
  every: (ms, run) => {
    if (ms % TICK_MS === 0) return everyWakeUp(ms / TICK_MS, run);
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  defer: setImmediate,
};

export function delay(timers: Pick<Timers, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}

/** Resolves after all of the thread's other pending work has run. */
export function nextTurn(timers: Pick<Timers, 'defer'>): Promise<void> {
  return new Promise((resolve) => timers.defer(resolve));
}
