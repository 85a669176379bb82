import type { ComponentChildren } from 'preact';
import { CallError } from '../api.js';

/** While the first answer is waited for. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" /> Reading {what}…
    </p>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="state">{children}</p>;
}

/** Something went wrong: what, and what to do. */
export function Failed({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  const isLost = error instanceof CallError && error.isUnanswered;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{isLost ? 'walletd does not answer.' : 'That did not work.'}</strong>{' '}
        {isLost ? 'It may be starting again, or the network is down.' : sentence(error.message)}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The API begins its details with a small letter. */
function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
