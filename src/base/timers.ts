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
 * of an idle node. They run at multiples of their interval, or of a second if the interval is longer.
 */
const GRID_MS = 50;
const GRID_MAX_MS = 1000;
/** Node may run a timer a fraction of a millisecond too early. */
const EARLY_MS = 1;

interface Repeated {
  readonly run: () => void;
  readonly ms: number;
  dueMs: number;
}

const repeated = new Set<Repeated>();
let alarm: NodeJS.Timeout | undefined;
let alarmMs = Number.POSITIVE_INFINITY;

function everyOnGrid(ms: number, run: () => void): Cancel {
  const one = { run, ms, dueMs: dueAfter(performance.now(), ms) };
  repeated.add(one);
  if (one.dueMs < alarmMs) setAlarm();
  return () => {
    repeated.delete(one);
    if (repeated.size === 0) setAlarm();
  };
}

/** The last time on the grid that is at most `ms` after this time. */
function dueAfter(nowMs: number, ms: number): number {
  const gridMs = Math.min(ms, GRID_MAX_MS);
  return Math.floor((nowMs + EARLY_MS + ms) / gridMs) * gridMs;
}

function setAlarm(): void {
  clearTimeout(alarm);
  alarmMs = Number.POSITIVE_INFINITY;
  for (const { dueMs } of repeated) alarmMs = Math.min(alarmMs, dueMs);
  if (repeated.size > 0) alarm = setTimeout(runDue, alarmMs - performance.now()).unref();
}

function runDue(): void {
  const nowMs = performance.now() + EARLY_MS;
  const due = [...repeated].filter(({ dueMs }) => dueMs <= nowMs);
  for (const one of due) one.dueMs = dueAfter(nowMs - EARLY_MS, one.ms);
  setAlarm();
  for (const one of due) if (repeated.has(one)) one.run();
}

export const systemTimers: Timers = {
  every: (ms, run) => {
    if (ms % GRID_MS === 0) return everyOnGrid(ms, run);
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
