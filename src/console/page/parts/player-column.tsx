import { hrefOf } from '../place.js';
import type { Column } from './table.js';

/** Whom a row is about, with the way there. */
export const playerColumn: Column<{ readonly username: string }> = {
  title: 'Player',
  text: ({ username }) => username,
  show: ({ username }) => (
    <a class="name" href={hrefOf('player', { name: username })}>
      <bdi>{username}</bdi>
    </a>
  ),
};
