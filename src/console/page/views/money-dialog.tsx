import { useId, useState } from 'preact/hooks';
import { formatAmount } from '../../amount.js';
import { CallError, partOf, post } from '../api.js';
import { type Exact, plain } from '../json.js';
import { Amount } from '../parts/amount.js';
import { Dialog } from '../parts/dialog.js';
import { Failed } from '../parts/states.js';
import { Time } from '../parts/time.js';
import type { Player } from './players.js';

export type Movement = 'deposit' | 'withdraw' | 'correct';

interface Done {
  readonly amount: Exact;
  readonly balanceBefore: Exact;
  readonly balanceAfter: Exact;
}

/** The answer when a second operator has to approve the movement. */
interface Waiting {
  readonly amount: Exact;
  readonly approval: { readonly expiresMillis: Exact };
}

interface Filled {
  readonly amount: string;
  readonly reason: string;
  readonly allowNegativeBalance: boolean;
}

type Step =
  | { readonly type: 'fill' }
  | { readonly type: 'confirm'; readonly isWaiting: boolean; readonly error?: Error }
  | { readonly type: 'done'; readonly done: Done | Waiting };

const TITLES: Readonly<Record<Movement, string>> = {
  deposit: 'Deposit',
  withdraw: 'Withdraw',
  correct: 'Correct balance',
};
const ACTIONS: Readonly<Record<Movement, string>> = { deposit: 'Deposit', withdraw: 'Withdraw', correct: 'Correct by' };
const NOUNS: Readonly<Record<Movement, string>> = {
  deposit: 'Deposit',
  withdraw: 'Withdrawal',
  correct: 'Correction',
};
const PATHS: Readonly<Record<Movement, string>> = {
  deposit: 'deposits',
  withdraw: 'withdrawals',
  correct: 'corrections',
};
const UNSIGNED = '\\d+(\\.\\d+)?';
const ID_BYTES = 12;

interface Props {
  readonly movement: Movement;
  readonly player: Player;
  readonly onClose: () => void;
}

/**
 * Moves money in four steps: fill in the form, review, confirm, read the result. The form creates its id once. Money
 * therefore moves only once, even if the form is sent twice or again after a lost answer.
 */
export function MoneyDialog({ movement, player: given, onClose }: Props) {
  const [player] = useState(given);
  const [id] = useState(newId);
  const [filled, setFilled] = useState<Filled>({ amount: '', reason: '', allowNegativeBalance: false });
  const [step, setStep] = useState<Step>({ type: 'fill' });
  const { username, currency } = player;
  const send = async () => {
    setStep({ type: 'confirm', isWaiting: true });
    try {
      const { amount, reason, allowNegativeBalance } = filled;
      const body = { id, amount: { exact: amount }, ...(movement === 'correct' && { reason, allowNegativeBalance }) };
      const done = await post<Done | Waiting>(`/v1/players/${partOf(username)}/${PATHS[movement]}`, body);
      setStep({ type: 'done', done });
    } catch (error) {
      setStep({ type: 'confirm', isWaiting: false, error: error as Error });
    }
  };
  return (
    <Dialog title={TITLES[movement]} onClose={onClose}>
      {step.type === 'fill' && (
        <Fill
          movement={movement}
          player={player}
          filled={filled}
          onFilled={(now) => {
            setFilled(now);
            setStep({ type: 'confirm', isWaiting: false });
          }}
          onClose={onClose}
        />
      )}
      {step.type === 'confirm' && (
        <>
          <dl class="summary">
            <dt>Player</dt>
            <dd>
              <bdi class="name">{username}</bdi>
            </dd>
            <dt>{NOUNS[movement]}</dt>
            <dd class="figure">
              <Amount of={{ exact: filled.amount }} currency={currency} />
            </dd>
            {movement === 'correct' && (
              <>
                <dt>Reason</dt>
                <dd>
                  <bdi>{filled.reason}</bdi>
                </dd>
                <dt>Negative balance</dt>
                <dd>{filled.allowNegativeBalance ? 'allowed' : 'not allowed'}</dd>
              </>
            )}
            <dt>Current balance</dt>
            <dd>
              <Amount of={player.balance} currency={currency} />
            </dd>
            <dt>ID</dt>
            <dd class="id">{id}</dd>
          </dl>
          {step.error && <Failed error={step.error} />}
          {isUncertain(step.error) && (
            <p class="note warn">
              The outcome is unknown. Send the request again: with the same ID the money moves only once.
            </p>
          )}
          <footer>
            <button type="button" disabled={step.isWaiting} onClick={() => setStep({ type: 'fill' })}>
              Back
            </button>
            <button type="button" class="main" disabled={step.isWaiting} onClick={send}>
              {step.isWaiting
                ? 'Sending…'
                : isUncertain(step.error)
                  ? 'Send again'
                  : `${ACTIONS[movement]} ${formatAmount(filled.amount, currency)} ${currency}`}
            </button>
          </footer>
        </>
      )}
      {step.type === 'done' && <Result done={step.done} currency={currency} id={id} onClose={onClose} />}
    </Dialog>
  );
}

interface FillProps {
  readonly movement: Movement;
  readonly player: Player;
  readonly filled: Filled;
  readonly onFilled: (filled: Filled) => void;
  readonly onClose: () => void;
}

function Fill({ movement, player, filled, onFilled, onClose }: FillProps) {
  const amountId = useId();
  const reasonId = useId();
  const hintId = useId();
  const isCorrection = movement === 'correct';
  const read = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    onFilled({
      amount: String(form.get('amount')).trim(),
      reason: String(form.get('reason') ?? ''),
      allowNegativeBalance: form.get('allowNegativeBalance') === 'on',
    });
  };
  return (
    <form onSubmit={read}>
      <p>
        <bdi class="name">{player.username}</bdi> has <Amount of={player.balance} currency={player.currency} />.
      </p>
      <label for={amountId}>Amount in {player.currency}</label>
      <input
        id={amountId}
        name="amount"
        inputMode={isCorrection ? 'text' : 'decimal'}
        autocomplete="off"
        required
        pattern={isCorrection ? `-?${UNSIGNED}` : UNSIGNED}
        title={isCorrection ? 'A number such as 12.5 or -12.5' : 'A number such as 12.5'}
        defaultValue={filled.amount}
        aria-describedby={hintId}
      />
      <p class="hint" id={hintId}>
        {isCorrection
          ? 'Positive adds money, negative takes money. Use a point for decimals.'
          : 'Use a point for decimals.'}
      </p>
      {isCorrection && (
        <>
          <label for={reasonId}>Reason (kept permanently)</label>
          <textarea id={reasonId} name="reason" rows={3} maxLength={500} required defaultValue={filled.reason} />
          <label class="check">
            <input type="checkbox" name="allowNegativeBalance" defaultChecked={filled.allowNegativeBalance} /> Allow a
            negative balance
          </label>
        </>
      )}
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="main">
          Review
        </button>
      </footer>
    </form>
  );
}

interface ResultProps {
  readonly done: Done | Waiting;
  readonly currency: string;
  readonly id: string;
  readonly onClose: () => void;
}

function Result({ done, currency, id, onClose }: ResultProps) {
  return (
    <>
      {'approval' in done ? (
        <p class="note warn" role="status">
          No money has moved yet: another operator has to approve before{' '}
          <Time ms={plain(done.approval.expiresMillis)} />.
        </p>
      ) : (
        <p class="note good" role="status">
          Done and stored durably.
        </p>
      )}
      <dl class="summary">
        <dt>Amount</dt>
        <dd class="figure">
          <Amount of={done.amount} currency={currency} />
        </dd>
        {'balanceAfter' in done && (
          <>
            <dt>Balance before</dt>
            <dd>
              <Amount of={done.balanceBefore} currency={currency} />
            </dd>
            <dt>Balance after</dt>
            <dd>
              <Amount of={done.balanceAfter} currency={currency} />
            </dd>
          </>
        )}
        <dt>ID</dt>
        <dd class="id">{id}</dd>
      </dl>
      <footer>
        <button type="button" class="main" onClick={onClose}>
          Close
        </button>
      </footer>
    </>
  );
}

/**
 * True if the operation may have been carried out: there was no answer, or the answer reports that the change is not
 * durable yet.
 */
function isUncertain(error: Error | undefined): boolean {
  return error instanceof CallError && (error.isUnanswered || error.status >= 500);
}

/** Creates an id. Over plain HTTP, browsers do not offer `randomUUID`. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
