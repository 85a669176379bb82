import type { ScaleTable } from '../wallet/amount.js';
import type { PlayerDetails, PlayerView } from '../wallet/query.js';
import { money, sum } from './money.js';

/** A player in search results, conforming to the schema `FoundPlayer`. */
export function playerBody(scales: ScaleTable, player: PlayerView): object {
  return { ...player, balance: money(scales, player.currency, player.balance) };
}

/** A player, conforming to the schema `Player`. */
export function detailsBody(scales: ScaleTable, { openStakes, session, ...player }: PlayerDetails): object {
  return {
    ...playerBody(scales, player),
    openStakes: sum(scales, player.currency, BigInt(openStakes)),
    session: session && { endMillis: session.endMs },
  };
}
