/** Ends what was begun; may be called again. */
export type Cancel = () => void;

/** What happens later. What happens again and again keeps no process alive. */
export interface Timers {
  every(ms: number, run: () => void): Cancel;
  after(ms: number, run: () => void): Cancel;
  /** Once the events of this turn of the event loop have been handled. */
  defer(run: () => void): void;
}

export const systemTimers: Timers = {
  every: (ms, run) => {
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

/** Gives way to what else waits for its turn. */
export function nextTurn(timers: Pick<Timers, 'defer'>): Promise<void> {
  return new Promise((resolve) => timers.defer(resolve));
}
