import { useEffect, useState } from 'preact/hooks';
import { readVisitor, type Visitor, whenSignedOut } from './api.js';
import { Failed, Loading } from './parts/states.js';
import { usePlace } from './place.js';
import { Shell } from './shell.js';
import { SignIn } from './views/sign-in.js';

type State = { readonly visitor: Visitor | undefined } | { readonly error: Error } | undefined;

/**
 * Shows the console to a signed-in visitor, and the sign-in form to anyone else. The address of the requested view is
 * kept in both cases.
 */
export function App() {
  const [state, setState] = useState<State>();
  const [hasEnded, setEnded] = useState(false);
  const place = usePlace();
  const look = () => {
    setState(undefined);
    readVisitor()
      .then((visitor) => setState({ visitor }))
      .catch((error: Error) => setState({ error }));
  };
  const end = () => {
    setEnded(true);
    setState({ visitor: undefined });
  };
  // Runs once, when the page loads.
  useEffect(() => {
    whenSignedOut(end);
    look();
  }, []);
  if (state === undefined) return <Loading what="your session" />;
  if ('error' in state) {
    return (
      <main class="alone">
        <h1>walletd</h1>
        <Failed error={state.error} again={look} />
      </main>
    );
  }
  const enter = (visitor: Visitor) => {
    setEnded(false);
    setState({ visitor });
  };
  if (state.visitor === undefined) return <SignIn hasEnded={hasEnded} onSignedIn={enter} />;
  return (
    <Shell visitor={state.visitor} place={place} onEnded={end} onSignedOut={() => setState({ visitor: undefined })} />
  );
}
