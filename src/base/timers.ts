/** Ends what was begun; may be called again. */
export type Cancel = () => void;

/** What happens later. None of it keeps a process alive. */
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
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
  defer: (run) => void setImmediate(run),
};
