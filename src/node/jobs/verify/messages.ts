import type { Settings } from '../../../config/schema.js';
import type { VerifyReportJson } from '../../../tools/verify/report-json.js';

/**
 * Messages between a node and the process that verifies its store. They are sent over a private channel, because the
 * settings contain secrets.
 */

export interface VerifyTask {
  readonly settings: Settings;
  /** The port of the requesting node's operator API. The verification compares the node's players with the store. */
  readonly adminPort: number;
  readonly isDeep: boolean;
}

export type FromVerify =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'verified'; readonly report: VerifyReportJson }
  | { readonly type: 'failed'; readonly reason: string };
