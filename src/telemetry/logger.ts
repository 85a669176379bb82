import { destination, type Logger, pino } from 'pino';

const SECRETS = ['token', 'authorization', 'keys', 'secret', 'password'];

/** JSON lines on stdout. Secrets are named here, so that none is logged even when somebody passes one. */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous: lines are few, and the last ones before an end must not be lost or change places.
  return pino(options, destination({ dest: 1, sync: true }));
}
