import { destination, type Logger, pino } from 'pino';

/** JSON lines on stdout. Secrets are named here, so that none is logged even when somebody passes one. */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    redact: ['token', '*.token', 'authorization', '*.authorization'],
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous: lines are few, and the last ones before an end must not be lost or change places.
  return pino(options, destination({ dest: 1, sync: true }));
}
