import { useState } from 'preact/hooks';
import { partOf, post } from '../api.js';
import { Dialog } from '../parts/dialog.js';
import { Failed } from '../parts/states.js';
import type { Player } from './players.js';

/** Blocks or unblocks a player. The call needs no id, because repeating it is safe. */
export function BlockDialog({ player, onClose }: { readonly player: Player; readonly onClose: () => void }) {
  const [{ username, status }] = useState(player);
  const [error, setError] = useState<Error>();
  const [isWaiting, setWaiting] = useState(false);
  const action = status === 'active' ? 'block' : 'unblock';
  const title = status === 'active' ? 'Block' : 'Unblock';
  const send = async () => {
    setWaiting(true);
    setError(undefined);
    try {
      await post(`/v1/players/${partOf(username)}/${action}`);
      onClose();
    } catch (failure) {
      setError(failure as Error);
      setWaiting(false);
    }
  };
  return (
    <Dialog title={`${title} this player?`} onClose={onClose}>
      <p>
        <bdi class="name">{username}</bdi>{' '}
        {status === 'active'
          ? 'will not be able to bet. Open bets can still be settled and cancelled, and operators can still move money.'
          : 'will be able to bet again.'}
      </p>
      {error && <Failed error={error} />}
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="main" disabled={isWaiting} onClick={send}>
          {isWaiting ? 'Sending…' : title}
        </button>
      </footer>
    </Dialog>
  );
}
