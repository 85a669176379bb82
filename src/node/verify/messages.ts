import type { Settings } from '../../config/schema.js';
import type { VerifyReportJson } from '../../tools/verify/report-json.js';

/**
 * Messages between a node and the process that verifies its store. They use a private channel, because the settings
 * contain secrets.
 */

export interface VerifyTask {
  readonly settings: Settings;
  /** Operator API port of the requesting node, for comparing its players. */
  readonly adminPort: number;
  readonly isDeep: boolean;
}

export type FromVerify =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'verified'; readonly report: VerifyReportJson }
  | { readonly type: 'failed'; readonly reason: string };
