/** Ends what was begun; may be called again. */
export type Cancel = () => void;

/** What happens later. What happens again and again keeps no process alive. */
export interface Timers {
  every(ms: number, run: () => void): Cancel;
  after(ms: number, run: () => void): Cancel;
  /** Once the events of this turn of the event loop have been handled. */
  defer(run: () => void): void;
}

/** To wake up is most of what an idle node costs: what comes again after a multiple of this comes at the same times. */
const BEAT_MS = 50;

interface Repeated {
  readonly run: () => void;
  readonly beats: number;
  beatsLeft: number;
}

const repeated = new Set<Repeated>();
let beat: NodeJS.Timeout | undefined;

function everyBeat(beats: number, run: () => void): Cancel {
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
    if (ms % BEAT_MS === 0) return everyBeat(ms / BEAT_MS, run);
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
