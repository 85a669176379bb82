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
const BEAT_MS = 50;

interface Repeated {
  readonly run: () => void;
  readonly beats: number;
  beatsLeft: number;
}

const repeated = new Set<Repeated>();
let beat: NodeJS.Timeout | undefined;

function everyWakeUp(beats: number, run: () => void): Cancel {
  const one = { run, beats, beatsLeft: beats };
  repeated.add(one);
  beat ??= setInterval(runDue, BEAT_MS).unref();
  return () => {
    repeated.delete(one);
    if (repeated.size > 0) return;
    clearInterval(beat);
    beat = undefined;
  };
}

function runDue(): void {
  for (const one of [...repeated]) {
    if (!repeated.has(one) || --one.beatsLeft > 0) continue;
    one.beatsLeft = one.beats;
    one.run();
  }
}

export const systemTimers: Timers = {
  every: (ms, run) => {
    if (ms % BEAT_MS === 0) return everyWakeUp(ms / BEAT_MS, run);
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
