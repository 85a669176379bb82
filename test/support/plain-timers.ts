import { systemTimers, type Timers } from '../../src/base/timers.js';

/** Timers on `setInterval` alone, which `mock.timers` can advance by any time in one step. */
export const plainTimers: Timers = {
  ...systemTimers,
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};
