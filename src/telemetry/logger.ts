import { isMainThread } from 'node:worker_threads';
import { type Logger, pino } from 'pino';
import { LogOutput } from './log-output.js';

const SECRETS = ['token', 'authorization', 'keys', 'secret', 'password'];

/** JSON lines on stdout. Fields with these names are redacted, so that a secret is not logged by mistake. */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (isMainThread) void process.stdout;
  const output = new LogOutput();
  process.on('exit', () => output.end());
  return pino(options, output);
}
