import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../base/message-of.js';
import { quoted } from '../base/quoted.js';
import { UserError } from '../base/user-error.js';
import { OPENING_BALANCE } from './case.js';
import type { Player } from './message.js';

/** Explains in one sentence why there is no player to play with, through no fault of the operator. */
export class PlayersError extends UserError {
  override readonly name = 'PlayersError';
  override readonly ending = 'cannotKnow';
}

/** The source of new players with `OPENING_BALANCE`. Rejects with a `PlayersError` if there are none left. */
export interface Players {
  take(): Promise<Player>;
}

const COMMAND_TIMEOUT_MS = 60_000;
/** Limits for the number of players per import. The number grows with the players used so far. */
const IMPORT_LINES_MIN = 100;
const IMPORT_LINES_MAX = 2000;

/** Players from a list, each used once. `text` contains one username per line. */
export class ListedPlayers implements Players {
  private readonly usernames: string[];
  private next = 0;

  constructor(
    text: string,
    private readonly currency: string,
  ) {
    this.usernames = text.split(/\r?\n/).filter((line) => line !== '');
    const seen = new Set<string>();
    const twice = this.usernames.find((name) => seen.size === seen.add(name).size);
    if (twice !== undefined) throw new PlayersError(`${twice} is there twice`);
  }

  get count(): number {
    return this.usernames.length;
  }

  async take(): Promise<Player> {
    const username = this.usernames[this.next++];
    if (username === undefined) throw new PlayersError(`all ${this.count} players have been used`);
    return { username, currency: this.currency, balance: OPENING_BALANCE };
  }
}

/** Creates each player with a shell command in which {username}, {currency} and {balance} are replaced. */
export class CommandPlayers implements Players {
  constructor(
    private readonly command: string,
    private readonly currency: string,
    private readonly nextName: () => string,
  ) {}

  async take(): Promise<Player> {
    const player = { username: this.nextName(), currency: this.currency, balance: OPENING_BALANCE };
    const command = this.command.replaceAll(/\{(username|currency|balance)\}/g, (_, field: keyof Player) =>
      quoted(String(player[field])),
    );
    try {
      await promisify(execFile)('/bin/sh', ['-c', command], { timeout: COMMAND_TIMEOUT_MS });
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      throw new PlayersError(`a player could not be created: ${stderr.trim() || messageOf(error)}`);
    }
    return player;
  }
}

/** Creates many players at a time with the import of walletd's operator API. */
export class OperatorPlayers implements Players {
  private made = 0;
  private readonly ready: Player[] = [];
  private importing: Promise<void> | undefined;

  constructor(
    private readonly url: string,
    private readonly token: string | undefined,
    private readonly currency: string,
    private readonly nextName: () => string,
  ) {}

  async take(): Promise<Player> {
    for (;;) {
      const player = this.ready.pop();
      if (player !== undefined) return player;
      this.importing ??= this.import().finally(() => {
        this.importing = undefined;
      });
      await this.importing;
    }
  }

  private async import(): Promise<void> {
    const players = Array.from({ length: Math.min(Math.max(this.made, IMPORT_LINES_MIN), IMPORT_LINES_MAX) }, () => {
      return { username: this.nextName(), currency: this.currency, balance: OPENING_BALANCE };
    });
    this.made += players.length;
    const body = players.map((player) => JSON.stringify({ id: 'opening', ...player })).join('\n');
    const headers = {
      'Content-Type': 'application/x-ndjson',
      ...(this.token !== undefined && { Authorization: `Bearer ${this.token}` }),
    };
    const url = `${this.url}/v1/players:import`;
    let text: string;
    try {
      const response = await fetch(url, { method: 'POST', headers, body });
      text = await response.text();
      if (!response.ok) throw new Error(`HTTP ${response.status} ${text}`);
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      throw new PlayersError(`no players from ${url}: ${messageOf(cause ?? error)}`);
    }
    const { created } = JSON.parse(text.trim().split('\n').at(-1) ?? '{}') as { created?: number };
    if (created !== players.length) throw new PlayersError(`${url} created ${created} of ${players.length} players`);
    this.ready.push(...players);
  }
}
