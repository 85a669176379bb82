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

/** Drains a node, or ends its draining. */
export function DrainDialog({ node: given, onClose }: DrainProps) {
  const [{ name, state, shards }] = useState(given);
  const verb = state === 'up' ? 'drain' : 'undrain';
  return (
    <Confirm
      title={state === 'up' ? 'Drain this node?' : 'Undrain this node?'}
      button={state === 'up' ? 'Drain' : 'Undrain'}
      send={() => post(`/v1/cluster/nodes/${partOf(name)}/${verb}`)}
      onClose={onClose}
    >
      <p>
        <bdi class="name">{name}</bdi>{' '}
        {state === 'up'
          ? `gives its ${shards.exact} shards to the others, one after the other, and takes none until it is undrained.`
          : 'may have shards again; some move to it by and by.'}
      </p>
    </Confirm>
  );
}

interface MoveProps {
  readonly shard: ClusterShard;
  readonly nodes: readonly Node[];
  readonly onClose: () => void;
}

/** Moves a shard, whose callbacks wait meanwhile. */
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
        It is with <bdi>{owner ?? 'nobody'}</bdi>. Its callbacks wait for a moment while it moves.
      </p>
      {others.length === 0 ? (
        <p class="note warn">No other node is up that could take it.</p>
      ) : (
        <>
          <label for={id}>To</label>
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
