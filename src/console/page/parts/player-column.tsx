import { hrefOf } from '../place.js';
import type { Column } from './table.js';

/** A column with the player of a row, linked to the player's view. */
export const playerColumn: Column<{ readonly username: string }> = {
  title: 'Player',
  text: ({ username }) => username,
  show: ({ username }) => (
    <a class="name" href={hrefOf('player', { name: username })}>
      <bdi>{username}</bdi>
    </a>
  ),
};
