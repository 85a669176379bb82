import type { FastifyRequest } from 'fastify';
import { object } from '../base/json-schema.js';
import { FAILURES } from '../callback/failures.js';
import type { AdminDeps } from './admin-deps.js';
import { id, oneOf } from './fields.js';
import { answer } from './openapi.js';
import { Problem } from './problem.js';
import { type Route, route } from './route.js';
import { ref } from './schemas.js';
import { mustBegin, SHUTTING_DOWN, sendLines } from './search-stream.js';
import type { SearchLine, StoreSearch } from './store-searcher.js';

const PLACES = ['memory', 'archive', 'log'] as const;
const HITS_MAX = 1000;
/** Limits concurrent searches, because each one visits all players. */
const SEARCHES_MAX = 4;
/** Interval of progress lines. */
const PROGRESS_MS = 500;

/**
 * Finds the player and record for an ID whose player is unknown. This process searches memory between callbacks; a
 * separate process reads the archive and the log. Hits are streamed line by line as they are found. A search ends when
 * its client disconnects.
 */
export function findRoute(
  { service, searcher, clock, log }: AdminDeps,
  isWanted: (request: FastifyRequest['raw']) => boolean,
): Route {
  let searches = 0;
  return route('GET', '/v1/find', {
    operationId: 'findId',
    tag: 'transactions',
    summary: 'Finds transactions, rounds, requests and operations with this id among all players',
    query: object(
      { id },
      {
        in: oneOf(PLACES, 'memory', 'Places to search. A node reads the archive or the log for one search at a time.'),
      },
    ),
    responses: {
      200: answer(
        `Hits as they are found, at most ${HITS_MAX}; the progress, at least once a second; and finally the result`,
        ref('FindLine'),
        'application/x-ndjson',
      ),
    },
    problems: [400, 409],
    isStream: true,
    handle: async ({ query: { id, in: place = 'memory' }, raw }, reply) => {
      if (!isWanted(raw)) throw SHUTTING_DOWN;
      const search =
        place === 'memory'
          ? inMemory(id, () => isWanted(raw))
          : mustBegin(searcher, { in: place, id, hitsMax: HITS_MAX });
      return sendLines(reply, search, (line) => bodyOf(line, place), log);
    },
  });

  function inMemory(id: string, isWanted: () => boolean): StoreSearch {
    if (searches >= SEARCHES_MAX) {
      throw new Problem(503, `${SEARCHES_MAX} searches are running: try again later`, 'overloaded');
    }
    searches++;
    return { lines: memory(id, isWanted), stop: () => void searches-- };
  }

  async function* memory(id: string, isWanted: () => boolean): AsyncGenerator<SearchLine> {
    const notes: string[] = [];
    let left = HITS_MAX;
    let reportedMs = clock.monotonicMs();
    for (let shard = 0; shard < service.shardCount; shard++) {
      for (let from: number | undefined = 0; from !== undefined; ) {
        if (!isWanted()) throw new Error('the server is shutting down');
        // Request one hit more than needed, to find out whether there are more.
        const result = await service.askShard(shard, { type: 'find-id', id, from, limit: left + 1 });
        if (result.type === 'failed') {
          notes.push(`shard ${shard} was not searched: ${FAILURES[result.failure].sentence}`);
          break;
        }
        if (result.type !== 'found-ids') throw new Error('ids answer a search for ids');
        for (const hit of result.hits.slice(0, left)) yield { type: 'hit', hit };
        left -= result.hits.length;
        if (left < 0) {
          yield { type: 'end', isCut: true, notes };
          return;
        }
        from = result.next;
        if (clock.monotonicMs() < reportedMs + PROGRESS_MS) continue;
        reportedMs = clock.monotonicMs();
        yield { type: 'progress', done: (shard + doneOfShard(from, result.players)) / service.shardCount };
      }
    }
    yield { type: 'end', isCut: false, notes };
  }
}

/** Share of a shard that was searched, from 0 to 1. `next` is the player to continue with; undefined at the end. */
export function doneOfShard(next: number | undefined, players: number): number {
  return next === undefined ? 1 : next / players;
}

function bodyOf(line: SearchLine, place: string): object {
  if (line.type !== 'hit') return line;
  const { timeMs: timeMillis, ...hit } = line.hit;
  return { type: 'hit', in: place, ...hit, timeMillis };
}
