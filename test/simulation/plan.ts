import { CHOICES } from '../../src/tools/simulate/profile.js';
import { Random } from './random.js';
import { ARCHIVE_NAMES, NAMES, ONE_NODE } from './trouble.js';

/** Something that happens in a run; `seed` decides where, and for how long. */
export interface Fault {
  readonly atMs: number;
  readonly kind: string;
  readonly seed: number;
}

/** Settings that the reference wallet knows as well. */
const SETTINGS = [
  'duplicates',
  'round.ended',
  'void.amounts',
  'void.allowNegativeBalance',
  'rollback.allowNegativeBalance',
  'rollback.stale',
  'tips.unknown',
] as const;
export type PlanSettings = Readonly<Partial<Record<(typeof SETTINGS)[number], string | boolean>>>;

/** All of one run: it can be made smaller without the rest becoming another one. */
export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  readonly shards: number;
  readonly servers: number;
  readonly followers: number;
  readonly snapshotEntries: number;
  /** Settings that shape decisions, by path, where they differ from the default. */
  readonly settings: PlanSettings;
  /** Undefined: there is no archive. */
  readonly memoryMs: number | undefined;
  /** Days for which ids are remembered; undefined: no run takes as long as that. */
  readonly retentionDays: number | undefined;
  /** Undefined: every answer waits for the replicas; else for another node, and the replicas are so far behind. */
  readonly replicasBehindMs: number | undefined;
  /** Who play at the same time. */
  readonly gamblers: number;
  /** How long they think, at most. */
  readonly thinkMs: number;
  /** Answers until one leaves, and another one comes. */
  readonly messages: number;
  /** Answers until the run ends. */
  readonly operations: number;
  readonly faults: readonly Fault[];
}

const PLAY_MS = 40_000;
/** Of each place at the tables: with more of them a short run would be over before much has gone wrong. */
const ANSWERS_MIN = 100;
/** Between two of a kind, on average: from so much up to so many times as much. */
const REST_MIN_MS = 300;
const LEAP_REST_MS = 6000;
const REST_SPREAD = 50;
const QUIET_MS = 16_000;
/** Draws of its own: the other draws of a seed do not depend on it. */
const MONTHS_CHANCE = 0x1b873593;
const SETTINGS_CHANCE = 0x2c1b3c6d;

/** What a seed says. Only with `hasMonths` time leaps: its judge takes an expired round that comes back for an error. */
export function planOf(seed: number, operations: number, hasMonths = false): Plan {
  const random = new Random(seed);
  const isCopied = random.chance(0.15);
  const nodes = isCopied ? 3 + random.below(2) : 1 + random.below(4);
  const servers = 1 + random.below(3);
  const months = new Random(seed ^ MONTHS_CHANCE);
  const retentionDays = !hasMonths || isCopied || months.chance(0.4) ? undefined : months.pick([1, 3, 30]);
  const drawnMs = random.chance(0.6) ? random.pick([200, 2000, 10_000]) : undefined;
  const memoryMs = drawnMs ?? (retentionDays !== undefined && months.chance(0.7) ? 200 : undefined);
  return {
    seed,
    nodes,
    shards: 1 + random.below(8),
    servers,
    followers: random.below(Math.min(nodes, 3)),
    snapshotEntries: random.pick([0, 20, 100, 1000]),
    settings: drawnSettings(new Random(seed ^ SETTINGS_CHANCE)),
    memoryMs,
    retentionDays,
    replicasBehindMs: isCopied ? random.between(20, 1000) : undefined,
    gamblers: Math.min(random.pick([1, 10, 100, 500, 2000]), Math.ceil(operations / ANSWERS_MIN)),
    thinkMs: random.pick([1, 20, 200]),
    messages: random.pick([5, 20, 40]),
    operations,
    faults: isCopied
      ? singleFaults(random.fork())
      : inOrder([
          ...drawnFaults(random.fork(), [
            ...NAMES,
            ...(memoryMs === undefined ? [] : ARCHIVE_NAMES),
            'assertion',
            // A clock ahead that nobody contradicts lets the judge believe that months have gone by.
            ...(retentionDays === undefined ? ['clock-days'] : []),
          ]),
          ...(retentionDays === undefined ? [] : leaps(months)),
        ]),
  };
}

/** Every other run has the default settings; in the others each one is drawn. */
function drawnSettings(random: Random): PlanSettings {
  if (random.chance(0.5)) return {};
  const drawn = SETTINGS.map((name) => [name, random.pick<string | boolean>(CHOICES[name])] as const);
  return Object.fromEntries(drawn.filter(([name, value]) => value !== CHOICES[name][0]));
}

/** Months, from the first seconds on. */
function leaps(random: Random): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = random.between(0, 2000); atMs < PLAY_MS; atMs += random.between(0, 2 * LEAP_REST_MS)) {
    faults.push({ atMs, kind: 'leap', seed: random.below(2 ** 32) });
  }
  return faults;
}

/** Half of these kinds, each as often as is drawn. */
function drawnFaults(random: Random, kinds: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  for (const kind of kinds) {
    const own = random.fork();
    if (own.chance(0.5)) continue;
    const restMs = REST_MIN_MS * REST_SPREAD ** own.next();
    for (let atMs = own.between(0, 2 * restMs); atMs < PLAY_MS; atMs += own.between(0, 2 * restMs)) {
      faults.push({ atMs, kind, seed: own.below(2 ** 32) });
    }
  }
  return faults;
}

/** Where masters lose what they have answered, one node at a time may fail, and not while it is still felt. */
function singleFaults(random: Random): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = 0; atMs < PLAY_MS; atMs += QUIET_MS) {
    faults.push({ atMs: atMs + random.between(0, 1500), kind: 'fail-over', seed: random.below(2 ** 32) });
    faults.push({ atMs: atMs + random.between(0, 1500), kind: random.pick(ONE_NODE), seed: random.below(2 ** 32) });
  }
  return inOrder(faults);
}

function inOrder(faults: Fault[]): Fault[] {
  return faults.sort((a, b) => a.atMs - b.atMs);
}
