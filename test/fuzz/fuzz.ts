import { setTimeout as delay } from 'node:timers/promises';
import { formatTable } from '../../src/cli/print/table.js';
import { EarlyTarget } from './early-target.js';
import { Finding } from './finding.js';
import type { Honest } from './honest.js';
import { KINDS } from './kinds.js';
import { LinkSiege } from './link-siege.js';
import { Random } from './random.js';
import { type Besieged, Target } from './target.js';

/** Attackers per target; each carries out one attack after another. */
const ATTACKERS = 4;
/** Number of pairs of nodes with a relay between them. */
const LINKS = 8;
const LOOK_MS = 500;
/** Number of metric checks between two SIGHUPs. */
const LOOKS = 3;

/** True if an attacker continues after `attacks` attacks. */
export type GoesOn = (attacks: number) => boolean;

/**
 * Attacks one walletd of each kind at the same time, with an honest player alongside the attackers. Resolves to a table
 * of figures. Rejects with the first finding.
 */
export async function fuzz(seed: number, goesOn: GoesOn): Promise<string> {
  const stop = new AbortController();
  const targets: Besieged[] = [];
  try {
    for (const kind of KINDS) targets.push(await Target.start(kind));
    targets.push(await EarlyTarget.start());
    const random = new Random(seed).fork('links');
    const links = random.list(LINKS, (n) => new LinkSiege(random.fork(`link ${n}`)));
    const [rows, linkRows] = await Promise.all([
      all(
        targets.map((target) => new Siege(target, seed, goesOn, stop).run()),
        stop,
      ),
      all(
        links.map((link) => link.run((attacks) => !stop.signal.aborted && goesOn(attacks))),
        stop,
      ),
    ]);
    const sums = LINK_COLUMNS.map((_, column) => linkRows.reduce((sum, row) => sum + (row[column] ?? 0), 0));
    return `${formatTable(COLUMNS, rows)}\n\n${formatTable(LINK_COLUMNS, [sums.map(String)])}`;
  } finally {
    for (const target of targets) await target.remove();
  }
}

const COLUMNS = [
  ...[
    'walletd with',
    { right: 'attacks' },
    { right: 'connections' },
    { right: 'honest answers' },
    { right: 'repeats' },
    { right: 'probes' },
  ],
  ...[{ right: 'descriptors' }, { right: 'resident MB' }, 'HTTP status (0: closed) and how often'],
];

const LINK_COLUMNS = ['links made', 'bytes changed', 'forged frames', 'messages sent', 'messages heard'].map(
  (right) => ({
    right,
  }),
);

class Siege {
  private readonly honest: Honest;
  private attacks = 0;
  private isOver = false;

  constructor(
    private readonly target: Besieged,
    private readonly seed: number,
    private readonly goesOn: GoesOn,
    private readonly stop: AbortController,
  ) {
    this.honest = target.callers(stop.signal);
  }

  async run(): Promise<string[]> {
    const { target, honest, stop } = this;
    const random = new Random(this.seed).fork(target.name);
    const attackers = Array.from({ length: ATTACKERS }, (_, n) => this.attack(n, random.fork(`attacker ${n}`)));
    const attacking = all(attackers, stop).finally(() => {
      this.isOver = true;
    });
    const playing = this.playHonestly().finally(() => honest.close());
    await all<unknown>([attacking, playing, this.watch()], stop);
    const { start, end } = await target.finish();
    const statuses = [...target.statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
    return [
      ...[target.name, this.attacks, target.connections, honest.answers, honest.repeats, honest.probes].map(String),
      ...[
        `${start?.descriptors ?? '-'} to ${end?.descriptors ?? '-'}`,
        `${start?.residentMb ?? '-'} to ${end?.residentMb ?? '-'}`,
      ],
      statuses.join(', '),
    ];
  }

  /**
   * Lets the honest callers play. If they fail, first checks whether the process has ended, because that explains a
   * missing answer.
   */
  private async playHonestly(): Promise<void> {
    const { target, honest } = this;
    try {
      await honest.play(() => !this.isOver);
    } catch (error) {
      await target.look();
      throw error instanceof Finding ? error.during(target.name) : error;
    }
  }

  private async attack(attacker: number, random: Random): Promise<void> {
    const { name, attacks, aim } = this.target;
    for (let n = 0; !this.stop.signal.aborted && this.goesOn(n); n++) {
      const attack = random.pick(attacks);
      const plan = attack.plan(random.fork(`attack ${n}`), aim);
      await this.target.suffer(plan).catch((error) => {
        throw error instanceof Finding
          ? error.during(`${name}, attack ${n} of attacker ${attacker}: ${attack.name}`)
          : error;
      });
      this.attacks++;
    }
  }

  private async watch(): Promise<void> {
    for (let looks = 1; !this.isOver; looks++) {
      await delay(LOOK_MS);
      await this.target.look();
      if (looks % LOOKS === 0) this.target.readCallersAgain();
    }
  }
}

/** Waits for all tasks. The first failure stops the other tasks and is reported. */
async function all<T>(works: readonly Promise<T>[], stop: AbortController): Promise<T[]> {
  for (const work of works) work.catch((error) => stop.abort(error));
  const results = await Promise.allSettled(works);
  stop.signal.throwIfAborted();
  return results.map((result) => (result as PromiseFulfilledResult<T>).value);
}
