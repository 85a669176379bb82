import { hrefOf } from '../place.js';
import type { Column } from './table.js';

/** Player of a row, as a link to the view of the player. */
export const playerColumn: Column<{ readonly username: string }> = {
  title: 'Player',
  text: ({ username }) => username,
  show: ({ username }) => (
    <a class="name" href={hrefOf('player', { name: username })}>
      <bdi>{username}</bdi>
    </a>
  ),
};
