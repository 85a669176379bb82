import { BroadcastChannel, getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { pino } from 'pino';
import type { Logger } from '../base/logger.js';
import { LogOutput } from './log-output.js';

const SECRETS = ['token', 'authorization', 'keys', 'secret', 'password'];
/** Channel on which threads receive a new log level. */
const LEVEL = 'walletd log level';

/** pino logger whose warnings and errors must have a code. */
export interface LevelLogger extends Logger {
  level: string;
  isLevelEnabled(level: string): boolean;
}

/**
 * Logs JSON lines to `output`, by default stdout, each including `fields`. Redacts fields whose names suggest a secret,
 * so that no secret is logged by mistake.
 */
export function createLogger(level: string, fields: object | null = null, output = new LogOutput()): LevelLogger {
  const options = {
    level,
    base: fields,
    redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (isMainThread) void process.stdout;
  process.on('exit', () => output.end());
  const logger = pino(options, output);
  if (!isMainThread) followLevel(logger);
  return logger;
}

/** Changes the log level in the main thread and in all other threads, including later ones. */
export function setLogLevel(logger: LevelLogger, level: string): void {
  if (level === logger.level) return;
  const change = { from: logger.level, to: level };
  // Log this while info lines are visible: before turning them off, or after turning them on.
  const isVisible = logger.isLevelEnabled('info');
  if (isVisible) logger.info(change, 'log.level changed');
  logger.level = level;
  if (!isVisible) logger.info(change, 'log.level changed');
  setEnvironmentData(LEVEL, level);
  const channel = new BroadcastChannel(LEVEL);
  channel.postMessage(level);
  channel.close();
}

function followLevel(logger: LevelLogger): void {
  const level = getEnvironmentData(LEVEL);
  if (typeof level === 'string') logger.level = level;
  const channel = new BroadcastChannel(LEVEL);
  channel.onmessage = ({ data }) => {
    logger.level = String(data);
  };
  channel.unref();
}
