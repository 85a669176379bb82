import { CHOICES } from '../../src/simulate/profile.js';
import { ARCHIVE_NAMES, NAMES } from './faults.js';
import { Random } from './random.js';

/** A kind of fault in a run. `seed` determines where it occurs and how long it lasts. */
export interface Fault {
  readonly atMs: number;
  readonly kind: string;
  readonly seed: number;
}

/** Settings that the reference wallet also supports. */
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

/** All parameters of one run. Each can shrink without affecting the others. */
export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  readonly shards: number;
  readonly servers: number;
  readonly followers: number;
  readonly snapshotEntries: number;
  /** Settings that affect decisions and differ from their defaults, by path. */
  readonly settings: PlanSettings;
  /** How long closed rounds stay in memory, in milliseconds; undefined if there is no archive. */
  readonly memoryMs: number | undefined;
  /** Number of days for which IDs are remembered; undefined if longer than any run. */
  readonly retentionDays: number | undefined;
  /** True if a consumer reads the event feed. */
  readonly hasConsumer: boolean;
  /** Number of simultaneous players. */
  readonly gamblers: number;
  /** Maximum pause between two messages. */
  readonly thinkMs: number;
  /** Number of answers after which a player leaves and a new one arrives. */
  readonly messages: number;
  /** Number of answers after which the run ends. */
  readonly operations: number;
  readonly faults: readonly Fault[];
}

const PLAY_MS = 40_000;
/** Minimum number of answers per simultaneous player. With fewer, a short run would end before many faults occur. */
const ANSWERS_MIN = 100;
/**
 * Minimum average time between two faults of a kind. The actual average is drawn from the range between this value and
 * a multiple of it.
 */
const REST_MIN_MS = 300;
const LEAP_REST_MS = 6000;
const REST_SPREAD = 50;
/** Modifies the seed for a separate random stream, so that the seed's other draws stay the same. */
const MONTHS_CHANCE = 0x1b873593;
const SETTINGS_CHANCE = 0x2c1b3c6d;
const CONSUMER_CHANCE = 0x3f84d5b5;
/** Kinds of faults in a contested plan, with the average time between two of a kind, in milliseconds. */
const CONTESTED: Readonly<Record<string, number>> = { move: 100, 'cut-store': 1500, slow: 2000 };
/** The same for a plan in which masters lose entries whose owners end. */
const LOSING: Readonly<Record<string, number>> = { 'fail-over': 4000, slow: 1000, kill: 1500 };

/**
 * Derives a plan from a seed. Time leaps only with `hasMonths`, because otherwise the checker reports an error if a
 * message for an expired round returns.
 */
export function planOf(seed: number, operations: number, hasMonths = false): Plan {
  const random = new Random(seed);
  const nodes = 1 + random.below(4);
  const servers = 1 + random.below(3);
  const months = new Random(seed ^ MONTHS_CHANCE);
  const retentionDays = !hasMonths || months.chance(0.4) ? undefined : months.pick([1, 3, 30]);
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
    hasConsumer: new Random(seed ^ CONSUMER_CHANCE).chance(0.5),
    gamblers: Math.min(random.pick([1, 10, 100, 500, 2000]), Math.ceil(operations / ANSWERS_MIN)),
    thinkMs: random.pick([1, 20, 200]),
    messages: random.pick([5, 20, 40]),
    operations,
    faults: inOrder([
      ...drawnFaults(random.fork(), [
        ...NAMES,
        ...(memoryMs === undefined ? [] : ARCHIVE_NAMES),
        'assertion',
        // Include this fault only without a retention period. Otherwise, the checker would assume that months have
        // passed if a clock is ahead and no other clock contradicts it.
        ...(retentionDays === undefined ? ['clock-days'] : []),
      ]),
      ...(retentionDays === undefined ? [] : leaps(months)),
    ]),
  };
}

/** The plan with three nodes that often take shards from one another while some of them do not reach the store. */
export function contested(plan: Plan): Plan {
  return { ...plan, nodes: 3, followers: 1, faults: allFaultsOf(CONTESTED, plan.seed) };
}

/** The plan with a consumer and three nodes that often end, on masters that are slow and lose their newest entries. */
export function losing(plan: Plan): Plan {
  return { ...plan, nodes: 3, followers: 1, hasConsumer: true, faults: allFaultsOf(LOSING, plan.seed) };
}

/** Every second run has the default settings. In the others, each setting is drawn at random. */
function drawnSettings(random: Random): PlanSettings {
  if (random.chance(0.5)) return {};
  const drawn = SETTINGS.map((name) => [name, random.pick<string | boolean>(CHOICES[name])] as const);
  return Object.fromEntries(drawn.filter(([name, value]) => value !== CHOICES[name][0]));
}

/** Leaps of months, starting in the first seconds. */
function leaps(random: Random): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = random.between(0, 2000); atMs < PLAY_MS; atMs += random.between(0, 2 * LEAP_REST_MS)) {
    faults.push({ atMs, kind: 'leap', seed: random.below(2 ** 32) });
  }
  return faults;
}

/** Draws half of these kinds, each with a random frequency. */
function drawnFaults(random: Random, kinds: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  for (const kind of kinds) {
    const own = random.fork();
    if (own.chance(0.5)) continue;
    faults.push(...faultsOf(kind, REST_MIN_MS * REST_SPREAD ** own.next(), own));
  }
  return faults;
}

function allFaultsOf(kinds: Readonly<Record<string, number>>, seed: number): Fault[] {
  const random = new Random(seed);
  return inOrder(Object.entries(kinds).flatMap(([kind, restMs]) => faultsOf(kind, restMs, random)));
}

/** Faults of one kind, `restMs` apart on average. */
function faultsOf(kind: string, restMs: number, random: Random): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = random.between(0, 2 * restMs); atMs < PLAY_MS; atMs += random.between(0, 2 * restMs)) {
    faults.push({ atMs, kind, seed: random.below(2 ** 32) });
  }
  return faults;
}

function inOrder(faults: Fault[]): Fault[] {
  return faults.sort((a, b) => a.atMs - b.atMs);
}
