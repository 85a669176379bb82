import type { Settings } from '../../config/schema.js';
import type { VerifyReportJson } from '../../tools/verify/report-json.js';

/**
 * Messages between a node and the process that verifies its store, over a private channel: the settings hold secrets.
 */

export interface VerifyTask {
  readonly settings: Settings;
  /** Port of the asking node's operator API, whose players are compared. */
  readonly adminPort: number;
  readonly isDeep: boolean;
}

export type FromVerify =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'verified'; readonly report: VerifyReportJson }
  | { readonly type: 'failed'; readonly reason: string };
