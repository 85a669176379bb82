import type { Settings } from '../../config/schema.js';
import type { VerifyReportJson } from '../../tools/verify/report-json.js';

/*
 * What a node and the process that verifies its store tell each other, over a channel that nobody else reads: the settings
 * hold secrets.
 */

export interface VerifyTask {
  readonly settings: Settings;
  /** Of the operator API of the node that asks: its players are compared. */
  readonly adminPort: number;
  readonly isDeep: boolean;
}

export type FromVerify =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'verified'; readonly report: VerifyReportJson }
  | { readonly type: 'failed'; readonly reason: string };
