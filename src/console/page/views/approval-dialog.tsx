import { useState } from 'preact/hooks';
import { partOf, post } from '../api.js';
import type { Exact } from '../json.js';
import { Amount } from '../parts/amount.js';
import { Dialog } from '../parts/dialog.js';
import { Failed } from '../parts/states.js';

/** Manual money movement that waits for a second operator's approval. */
export interface Approval {
  readonly id: string;
  readonly username: string;
  readonly currency: string;
  readonly type: string;
  readonly operationId: string;
  readonly amount: Exact;
  readonly reason?: string;
  readonly requestedMillis: Exact;
  readonly expiresMillis: Exact;
  readonly by: { readonly name: string; readonly address: string } | null;
}

export type ApprovalAction = 'approve' | 'refuse';

const TITLES: Readonly<Record<ApprovalAction, string>> = { approve: 'Approve', refuse: 'Refuse' };

interface Props {
  readonly action: ApprovalAction;
  readonly approval: Approval;
  readonly onClose: () => void;
}

/** Shows the request again before the decision. Repeating a decision is safe, because the money moves only once. */
export function ApprovalDialog({ action, approval, onClose }: Props) {
  const [error, setError] = useState<Error>();
  const [isWaiting, setWaiting] = useState(false);
  const { username, currency, type, amount, reason, by } = approval;
  const send = async () => {
    setWaiting(true);
    setError(undefined);
    try {
      await post(`/v1/approvals/${partOf(approval.id)}/${action}`);
      onClose();
    } catch (failure) {
      setError(failure as Error);
      setWaiting(false);
    }
  };
  return (
    <Dialog title={`${TITLES[action]} this ${type}?`} onClose={onClose}>
      <dl class="summary">
        <dt>Player</dt>
        <dd>
          <bdi class="name">{username}</bdi>
        </dd>
        <dt>Amount</dt>
        <dd class="figure">
          <Amount of={amount} currency={currency} />
        </dd>
        <dt>Requested by</dt>
        <dd>
          <bdi>{by?.name}</bdi>
        </dd>
        {reason !== undefined && (
          <>
            <dt>Reason</dt>
            <dd>
              <bdi>{reason}</bdi>
            </dd>
          </>
        )}
      </dl>
      <p>{action === 'approve' ? 'The money moves at once.' : 'No money moves.'}</p>
      {error && <Failed error={error} />}
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="main" disabled={isWaiting} onClick={send}>
          {isWaiting ? 'Sending…' : TITLES[action]}
        </button>
      </footer>
    </Dialog>
  );
}
