import type { ScaleTable } from '../wallet/amount.js';
import type { PlayerView } from '../wallet/query.js';
import { money } from './money.js';

/** A player, as the schema `Player` says. */
export function playerBody(scales: ScaleTable, player: PlayerView): object {
  return { ...player, balance: money(scales, player.currency, player.balance) };
}
