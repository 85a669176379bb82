import { useId, useState } from 'preact/hooks';
import { signIn, type Visitor } from '../api.js';
import { Failed } from '../parts/states.js';

interface Props {
  readonly hasEnded: boolean;
  readonly onSignedIn: (visitor: Visitor) => void;
}

/** Sign-in form. The page sends the token to walletd and does not store it. */
export function SignIn({ hasEnded, onSignedIn }: Props) {
  const [error, setError] = useState<Error>();
  const [isWaiting, setWaiting] = useState(false);
  const id = useId();
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get('token'));
    setWaiting(true);
    setError(undefined);
    try {
      onSignedIn(await signIn(token));
    } catch (failure) {
      setError(failure as Error);
      setWaiting(false);
    }
  };
  return (
    <main class="alone">
      <h1>walletd</h1>
      {hasEnded && !error && (
        <p class="note" role="status">
          Your session has ended. Sign in again to continue where you left off.
        </p>
      )}
      <form class="card" onSubmit={send}>
        <label for={id}>Operator’s token</label>
        <input id={id} name="token" type="password" autocomplete="current-password" required />
        <button type="submit" class="main" disabled={isWaiting}>
          {isWaiting ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      {error && <Failed error={error} />}
    </main>
  );
}
