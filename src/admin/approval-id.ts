import type { Answer } from '../wallet/decision.js';
import { Problem } from './problem.js';

/** The id of a pending request in URL paths. Encodes player and operation, which are unique only together. */
export function approvalId(username: string, id: string): string {
  return `${encode(username)}.${encode(id)}`;
}

/** Throws a `Problem` if the text is not an approval ID. */
export function mustReadApprovalId(text: string): { readonly username: string; readonly id: string } {
  const [username = '', id = '', ...others] = text.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  if (username === '' || id === '' || others.length > 0 || approvalId(username, id) !== text) {
    throw new Problem(404, 'this is not the id of an approval, as GET /v1/approvals lists them', 'approval-not-found');
  }
  return { username, id };
}

/** True if the money movement is waiting for another operator's approval. */
export function isWaiting(answer: Answer): boolean {
  return answer.type === 'failed' && answer.failure === 'approval-pending';
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
