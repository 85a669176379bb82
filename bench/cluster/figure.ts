import type { Column } from '../../src/cli/print/table.js';
import { median } from '../support/machine.js';

export type Unit = 'ms' | 'us' | '% of a core' | 'times' | 'requests';

/** A figure to measure, with its target. */
export interface Goal {
  readonly name: string;
  readonly unit: Unit;
  /** The target value. Undefined for a baseline, which a server that does more work cannot undercut. */
  readonly toReach?: number;
  /** True if the target is a minimum rather than a maximum. */
  readonly isLeast?: true;
}

/** A figure with its values from several rounds. */
export interface Figure extends Goal {
  readonly values: readonly number[];
}

export const FIGURE_COLUMNS: readonly Column[] = [
  '',
  ...['median', 'least', 'most', 'to reach'].map((right) => ({ right })),
  '',
  'reached',
];

export function figureRow(figure: Figure): string[] {
  const { name, unit, values, toReach, isLeast } = figure;
  const shown = [median(values), Math.min(...values), Math.max(...values)].map(digits);
  if (toReach === undefined) return [name, ...shown, '', unit, ''];
  return [name, ...shown, `${isLeast ? '>=' : '<='} ${digits(toReach)}`, unit, isReached(figure) ? 'yes' : 'NO'];
}

/** Compares the median with the target. */
export function isReached({ values, toReach, isLeast }: Figure): boolean {
  if (toReach === undefined) return true;
  return isLeast ? median(values) >= toReach : median(values) <= toReach;
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
