import { formatAmount } from '../../amount.js';
import { CallError, partOf } from '../api.js';
import type { Exact } from '../json.js';
import { Amount } from '../parts/amount.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { hrefOf } from '../place.js';
import { useGet } from '../use-call.js';
import { inWords } from '../words.js';
import { PlayerActions } from './player-actions.js';
import { PlayerOperations } from './player-operations.js';
import { PlayerRounds } from './player-rounds.js';
import { PlayerTransactions } from './player-transactions.js';
import type { Player } from './players.js';

/** A player with open bets. The API returns these fields only for a single player. */
interface PlayerWithBets extends Player {
  readonly openBets: Exact;
  readonly openStakes: Exact;
}

interface Props {
  readonly name: string;
  readonly tab: string;
  readonly mayChange: boolean;
}

const TABS = [
  ['', 'Transactions'],
  ['rounds', 'Rounds'],
  ['operations', 'Operations'],
] as const;

/** A view of one player: balance, history, and operator actions. */
export function PlayerView({ name, tab, mayChange }: Props) {
  const { answer: player, error, isWaiting, again } = useGet<PlayerWithBets>(() => `/v1/players/${partOf(name)}`);
  const isMissing = error instanceof CallError && error.status === 404;
  const [shown] = TABS.find(([show]) => show === tab) ?? [''];
  return (
    <>
      <header class="title">
        <h1 class="name">
          <bdi>{name}</bdi>
        </h1>
        <button type="button" class="quiet" onClick={again}>
          Refresh
        </button>
      </header>
      {isMissing && (
        <Empty>
          No player has this name. Names are case-sensitive. <a href={hrefOf('players')}>Search players</a>
        </Empty>
      )}
      {error && !isMissing && <Failed error={error} again={again} />}
      {!player && isWaiting && <Loading what="the player" />}
      {player && (
        <>
          <section class="tiles" aria-label="Player">
            <div class="card tile wide">
              <h2>Balance</h2>
              <p class="figure">
                {formatAmount(player.balance.exact, player.currency)} <small>{player.currency}</small>
              </p>
            </div>
            <div class="card tile">
              <h2>Open bets</h2>
              <p class="figure">{player.openBets.exact}</p>
              <p class="more">
                <Amount of={player.openStakes} currency={player.currency} /> staked
              </p>
            </div>
            <div class="card tile">
              <h2>Status</h2>
              <p class="figure">
                <span class={`badge ${player.status}`}>{inWords(player.status)}</span>
              </p>
              <p class="more">
                {player.status === 'active' ? 'Can place bets' : 'Bets are refused; settlements are accepted'}
              </p>
            </div>
          </section>
          {mayChange && <PlayerActions player={player} onDone={again} />}
          <nav class="tabs" aria-label="Player details">
            {TABS.map(([show, title]) => (
              <a key={show} href={hrefOf('player', { name, show })} aria-current={show === shown ? 'page' : undefined}>
                {title}
              </a>
            ))}
          </nav>
          {/* The lists reload whenever the player changes. */}
          {shown === 'operations' && (
            <PlayerOperations key={`${player.balance.exact} ${player.status}`} player={player} />
          )}
          {shown === 'rounds' && <PlayerRounds key={player.balance.exact} player={player} />}
          {shown === '' && <PlayerTransactions key={player.balance.exact} player={player} />}
        </>
      )}
    </>
  );
}
