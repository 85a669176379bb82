import { STATUS_CODES } from 'node:http';
import { FAILURES } from '../callback/failures.js';
import type { Failure } from '../wallet/rejection.js';

/** An error answer according to RFC 9457. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly status: number,
    /** A human-readable description of this occurrence. */
    readonly detail: string,
    /** Machine-readable name of the failure. */
    readonly code: string,
  ) {
    super(detail);
  }

  toJSON(): object {
    return {
      type: 'about:blank',
      title: STATUS_CODES[this.status],
      status: this.status,
      detail: this.detail,
      code: this.code,
    };
  }
}

export const badRequest = (detail: string) => new Problem(400, detail, 'bad-request');
export const unsupportedMediaType = (wanted: string) => new Problem(415, `send ${wanted}`, 'unsupported-media-type');
export const noSuchPlayer = (username: string) => new Problem(404, `there is no player ${username}`, 'user-not-found');

const OWN_STATUS: Readonly<Partial<Record<Failure, number>>> = {
  'user-not-found': 404,
  'approval-not-found': 404,
  'approval-own': 403,
  'approvals-full': 429,
};

/** A problem for a failure. A failure that the player's state causes is a conflict, and every busy failure is a 503. */
export function problemOf(failure: Failure): Problem {
  const { httpStatus, sentence } = FAILURES[failure];
  const status = OWN_STATUS[failure];
  if (status !== undefined) return new Problem(status, sentence, failure);
  return new Problem(httpStatus === 200 ? 409 : httpStatus, sentence, failure);
}
