/** Fields of a warning or an error. */
export interface Coded {
  /** The kind of event, in kebab case. Alerts, docs and tests match this code; docs/codes.md lists all codes. */
  readonly code: string;
  readonly [field: string]: unknown;
}

/** The logger interface that inner folders use. pino's logger implements it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: Coded, message: string): void;
  error(fields: Coded, message: string): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
