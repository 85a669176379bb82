import { setImmediate as turn } from 'node:timers/promises';
import { ShardArchive } from '../../src/archive/shard-archive.js';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import type { Archive } from '../../src/ports/archive.js';
import type { ArchiveMark } from '../../src/wallet/archive-mark.js';
import { archivableRounds, type Missing } from '../../src/wallet/archiving.js';
import { commands, Domain } from '../support/domain.js';

/** Players that each have `ROUNDS` rounds in the archive. */
const PLAYERS = Array.from({ length: 8 }, (_, i) => `player ${i}`);
const ROUNDS = 20;
const RETENTION_DAYS = 40;
const DAY_MS = 86_400_000;
/** Deadline of a lookup. Until then, a lookup retries an unreadable archive. */
const TIMEOUT_MS = 25;

/** A round name, and the serialized round that the archive must return for it. */
export interface Archived {
  readonly username: string;
  readonly productId: string;
  readonly missing: Missing;
  /** Serialized round as hexadecimal digits. */
  readonly image: string;
}

export interface Book {
  readonly archived: readonly Archived[];
  readonly mark: ArchiveMark | undefined;
}

/** Number of answers by kind. An answer is `wrong` if it is empty, or is not the newest serialized round. */
export interface Verdict {
  readonly right: number;
  readonly refused: number;
  readonly wrong: readonly string[];
}

function shardArchive(archive: Archive, required: () => ArchiveMark | undefined): ShardArchive {
  return new ShardArchive(0, {
    archive,
    required,
    retentionMs: RETENTION_DAYS * DAY_MS,
    hashKey: { low: 1, high: 2 },
    clock: systemClock,
    log: silentLogger,
    head: () => undefined,
    names: undefined,
    isInLog: async () => false,
    observer: { looked() {}, archived() {}, archiveFailed() {} },
    defer: setImmediate,
    yieldTurn: turn,
    delay: () => turn(),
  });
}

/**
 * Fills an archive over two days. Half of the keys are saved and the others are fresh, and some rounds have left memory
 * twice.
 */
export async function fill(archive: Archive): Promise<Book> {
  const node = shardArchive(archive, () => undefined);
  await node.load();
  const domain = new Domain();
  const archived = new Map<string, Archived>();
  let mark: ArchiveMark | undefined;
  let sequence = 0;
  const leave = async () => {
    const lsn = { epoch: 1, sequence: ++sequence };
    const leaving = PLAYERS.map((username) => ({
      username,
      rounds: archivableRounds(domain.wallet(username), Number.POSITIVE_INFINITY, 0, 1000),
    }));
    ({ mark } = await node.put(lsn, leaving));
    for (const { username, rounds } of leaving) {
      for (const { productId, roundId, image, transactions } of rounds) {
        const facts = { username, productId, image: image.toString('hex') };
        const ids = transactions.flatMap(({ kind, id }) => (kind === 'bet' ? [id] : []));
        archived.set(`${username} ${roundId}`, { ...facts, missing: { ids: [], rewardIds: [], roundIds: [roundId] } });
        for (const id of ids.slice(0, 2))
          archived.set(`${username} ${roundId} ${id}`, {
            ...facts,
            missing: { ids: [id], rewardIds: [], roundIds: [] },
          });
      }
      domain.run({ type: 'archive', username, rounds, beforeMs: domain.nowMs + 1 });
    }
  };
  for (const username of PLAYERS) domain.fund(username, 1_000_000);
  for (let n = 0; n < ROUNDS; n++) {
    for (const username of PLAYERS) {
      // Every ninth round has 120 bets, so that LMDB stores it on separate pages.
      const bets = Array.from({ length: n % 9 === 0 ? 120 : 1 }, (_, i) => `bet ${n}${i === 0 ? '' : `.${i}`}`);
      const txns = bets.map((id) => ({ id, roundId: `round ${n}` }));
      domain.run(commands.place(txns, { username }));
      domain.run(commands.settle(txns, { username }));
    }
    domain.nowMs += 10_000;
    if (n % 4 === 3 || n === ROUNDS - 1) await leave();
    if (n === 11) {
      await node.save();
      domain.nowMs += DAY_MS;
    }
  }
  // Rounds that returned, changed, and left memory again.
  for (const username of PLAYERS.slice(0, 4)) {
    const images = [...archived.values()]
      .filter(({ missing, ...one }) => one.username === username && missing.roundIds[0] === 'round 3')
      .map(({ image }) => Buffer.from(image, 'hex'));
    domain.run({ type: 'restore-rounds', username, images });
    domain.run(commands.void([{ id: 'bet 3', roundId: 'round 3' }], { username }));
  }
  await leave();
  return { archived: [...archived.values()], mark };
}

/** Looks up everything that is archived, like a start and the callbacks after it. */
export async function lookUpAll(archive: Archive, { archived, mark }: Book): Promise<Verdict> {
  const node = shardArchive(archive, () => mark);
  let isLoaded = false;
  const loading = node.load().then(() => {
    isLoaded = true;
  });
  loading.catch(() => {});
  while (!isLoaded && !node.measures.isAway) await turn();
  const deadlineMs = systemClock.monotonicMs() + (isLoaded ? 1000 * TIMEOUT_MS : TIMEOUT_MS);
  let right = 0;
  let refused = 0;
  const wrong: string[] = [];
  await Promise.all(
    archived.map(async ({ username, productId, missing, image }) => {
      try {
        const isKnown = node.mayHaveMissing(username, productId, missing);
        const found = isKnown ? await node.find(username, productId, missing, deadlineMs) : undefined;
        const images = found?.images.map((one) => one.toString('hex')) ?? [];
        if (images.length === 1 && images[0] === image) right++;
        else wrong.push(`${username} ${JSON.stringify(missing)}: ${found === undefined ? 'not known' : images.length}`);
      } catch {
        refused++;
      }
    }),
  );
  node.close();
  return { right, refused, wrong };
}
