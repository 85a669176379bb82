import type { Plan } from './plan.js';

/** Maximum number of attempts to make a plan smaller. */
const TRIES_MAX = 60;

/**
 * The smallest plan found that still fails. First removes kinds of faults, then halves each remaining number, then
 * removes single faults.
 */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let smallest = plan;
  let tries = 0;
  const attempt = async (smaller: Plan): Promise<boolean> => {
    if (tries++ >= TRIES_MAX || !(await fails(smaller))) return false;
    smallest = smaller;
    return true;
  };
  for (const kind of new Set(plan.faults.map((fault) => fault.kind))) {
    await attempt({ ...smallest, faults: smallest.faults.filter((fault) => fault.kind !== kind) });
  }
  for (const field of ['operations', 'gamblers', 'messages', 'shards', 'servers'] as const) {
    while (smallest[field] > 1 && (await attempt({ ...smallest, [field]: smallest[field] >> 1 })));
  }
  while (smallest.nodes > 1) {
    const nodes = smallest.nodes - 1;
    if (!(await attempt({ ...smallest, nodes, followers: Math.min(smallest.followers, nodes - 1) }))) break;
  }
  for (const field of ['snapshotEntries', 'followers'] as const) {
    if (smallest[field] > 0) await attempt({ ...smallest, [field]: 0 });
  }
  if (Object.keys(smallest.settings).length > 0) await attempt({ ...smallest, settings: {} });
  if (smallest.memoryMs !== undefined) await attempt({ ...smallest, memoryMs: undefined });
  if (smallest.hasConsumer) await attempt({ ...smallest, hasConsumer: false });
  for (const fault of smallest.faults) {
    await attempt({ ...smallest, faults: smallest.faults.filter((other) => other !== fault) });
  }
  return smallest;
}
