/** Fields of a warning or an error. */
export interface Coded {
  /** Kind of event, in kebab case. Alerts, docs and tests match it; docs/codes.md lists all of them. */
  readonly code: string;
  readonly [field: string]: unknown;
}

/** The logger interface on which inner folders depend. pino's logger implements it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: Coded, message: string): void;
  error(fields: Coded, message: string): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
