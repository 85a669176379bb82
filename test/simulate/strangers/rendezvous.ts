import { Client } from '../../../src/simulate/client.js';

interface Party {
  underway: number;
  waiting: (() => void)[];
}

/**
 * A place where an operator's requests of one player wait for each other. It needs no clock, because the client reports
 * how many requests are in progress.
 */
export class Rendezvous {
  private readonly parties = new Map<string, Party>();

  /** Resolves when all of the player's requests in progress have arrived here or were answered. */
  readonly meet = (username: string): Promise<void> =>
    new Promise((resolve) => {
      const party = this.party(username);
      party.waiting.push(resolve);
      this.release(party);
    });

  /** A client that tells this place about its requests. */
  client(url: string, answerMsMax: number): Client {
    const rendezvous = this;
    return new (class extends Client {
      override async post(...request: Parameters<Client['post']>): ReturnType<Client['post']> {
        const party = rendezvous.party((JSON.parse(request[1]) as { username: string }).username);
        party.underway++;
        const reply = await super.post(...request);
        party.underway--;
        rendezvous.release(party);
        return reply;
      }
    })(url, answerMsMax, undefined);
  }

  private party(username: string): Party {
    const party = this.parties.get(username) ?? { underway: 0, waiting: [] };
    this.parties.set(username, party);
    return party;
  }

  private release(party: Party): void {
    const { underway, waiting } = party;
    if (waiting.length < underway) return;
    party.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
