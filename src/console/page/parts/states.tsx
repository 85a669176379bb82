import type { ComponentChildren } from 'preact';
import { CallError } from '../api.js';

/** A placeholder shown until the first answer arrives. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="state">{children}</p>;
}

/** An error message with a retry button. */
export function Failed({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  const isLost = error instanceof CallError && error.isUnanswered;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{isLost ? 'walletd does not answer.' : 'That did not work.'}</strong>{' '}
        {isLost ? 'It may be restarting, or the network is down.' : sentence(error.message)}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Capitalizes a detail from the API, which begins with a lower-case letter. */
export function sentence(detail: string): string {
  const text = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
