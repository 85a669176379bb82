import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { partOf, post } from '../api.js';
import { Dialog } from '../parts/dialog.js';
import { Failed } from '../parts/states.js';
import type { ClusterShard, Node } from './cluster-status.js';

interface DrainProps {
  readonly node: Node;
  readonly onClose: () => void;
}

/** Drains a node, or stops draining it. */
export function DrainDialog({ node: given, onClose }: DrainProps) {
  const [{ name, state, shards }] = useState(given);
  const action = state === 'up' ? 'drain' : 'undrain';
  return (
    <Confirm
      title={state === 'up' ? 'Drain this node?' : 'Undrain this node?'}
      button={state === 'up' ? 'Drain' : 'Undrain'}
      send={() => post(`/v1/cluster/nodes/${partOf(name)}/${action}`)}
      onClose={onClose}
    >
      <p>
        <bdi class="name">{name}</bdi>{' '}
        {state === 'up'
          ? `hands its ${shards.exact} shards to the other nodes, one after the other, and takes none until you undrain it.`
          : 'can own shards again; some move to it over time.'}
      </p>
    </Confirm>
  );
}

interface MoveProps {
  readonly shard: ClusterShard;
  readonly nodes: readonly Node[];
  readonly onClose: () => void;
}

/** Moves a shard to a different node. Its callbacks wait until the move completes. */
export function MoveDialog({ shard: { shard, owner }, nodes, onClose }: MoveProps) {
  const id = useId();
  const others = nodes.filter(({ name, state }) => state === 'up' && name !== owner);
  const [node, setNode] = useState(others[0]?.name ?? '');
  return (
    <Confirm
      title={`Move shard ${shard.exact}?`}
      button="Move"
      isOff={node === ''}
      send={() => post(`/v1/cluster/shards/${shard.exact}/move`, { node })}
      onClose={onClose}
    >
      <p>
        Current owner: <bdi>{owner ?? 'none'}</bdi>. Callbacks of the shard wait briefly while it moves.
      </p>
      {others.length === 0 ? (
        <p class="note warn">No other node is up to take the shard.</p>
      ) : (
        <>
          <label for={id}>New owner</label>
          <select id={id} value={node} onChange={({ currentTarget }) => setNode(currentTarget.value)}>
            {others.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </>
      )}
    </Confirm>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly button: string;
  readonly isOff?: boolean;
  readonly send: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

function Confirm({ title, button, isOff = false, send, onClose, children }: ConfirmProps) {
  const [error, setError] = useState<Error>();
  const [isWaiting, setWaiting] = useState(false);
  const confirm = async () => {
    setWaiting(true);
    setError(undefined);
    try {
      await send();
      onClose();
    } catch (failure) {
      setError(failure as Error);
      setWaiting(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Failed error={error} />}
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="main" disabled={isWaiting || isOff} onClick={confirm}>
          {isWaiting ? 'Sending…' : button}
        </button>
      </footer>
    </Dialog>
  );
}
