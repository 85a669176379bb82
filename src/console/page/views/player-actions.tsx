import { useState } from 'preact/hooks';
import { BlockDialog } from './block-dialog.js';
import { MoneyDialog, type Movement } from './money-dialog.js';
import type { Player } from './players.js';

interface Props {
  readonly player: Player;
  /** Called after a change, or after a call that may have changed something. */
  readonly onDone: () => void;
}

const MOVEMENTS: readonly (readonly [Movement, string])[] = [
  ['deposit', 'Deposit'],
  ['withdraw', 'Withdraw'],
  ['correct', 'Correct balance'],
];

/** Buttons for operator actions on a player. */
export function PlayerActions({ player, onDone }: Props) {
  const [open, setOpen] = useState<Movement | 'block'>();
  const close = () => {
    setOpen(undefined);
    onDone();
  };
  return (
    <div class="actions">
      {MOVEMENTS.map(([movement, title]) => (
        <button key={movement} type="button" onClick={() => setOpen(movement)}>
          {title}
        </button>
      ))}
      <button type="button" onClick={() => setOpen('block')}>
        {player.status === 'active' ? 'Block' : 'Unblock'}
      </button>
      {open === 'block' && <BlockDialog player={player} onClose={close} />}
      {open !== undefined && open !== 'block' && <MoneyDialog movement={open} player={player} onClose={close} />}
    </div>
  );
}
