import type { Units } from '../amount.js';

/** The operator behind a request: the name of its token, and the address that it came from. */
export interface Operator {
  readonly name: string;
  readonly address: string;
}

export type OperationType = 'create' | 'import' | 'deposit' | 'withdrawal' | 'correction' | 'block' | 'unblock';

/** What an operator did to a player (docs/decisions.md section 5). */
export interface OperationFacts {
  readonly type: OperationType;
  /** One id space per player; empty where a repeat is harmless without an id: create, block, unblock. */
  readonly id: string;
  /** Signed for a correction; 0 where no money moves. */
  readonly amount: Units;
  /** The balance after it. */
  readonly after: Units;
  readonly timeMs: number;
  /** Undefined in what was written before operators had names. */
  readonly by?: Operator | undefined;
  /** Corrections only. */
  readonly reason?: string | undefined;
}

/** By how much an operation moved the balance. */
export function movedBy({ type, amount }: Pick<OperationFacts, 'type' | 'amount'>): Units {
  return type === 'withdrawal' ? -amount : amount;
}

/**
 * An operation as its wallet remembers it. What it has in common with those of other players stands in its cause, which
 * they share: so it costs no byte more than when nobody asked who did it, and a million imports name one operator.
 */
export class Operation implements OperationFacts {
  readonly id: string;
  readonly amount: Units;
  readonly after: Units;
  readonly timeMs: number;
  private readonly cause: Cause;

  constructor(
    facts: OperationFacts,
    readonly older: Operation | undefined,
  ) {
    this.id = facts.id;
    this.amount = facts.amount;
    this.after = facts.after;
    this.timeMs = facts.timeMs;
    this.cause = causeOf(facts);
  }

  get type(): OperationType {
    return this.cause.type;
  }

  get by(): Operator | undefined {
    return this.cause.by;
  }

  get reason(): string | undefined {
    return this.cause.reason;
  }
}

interface Cause {
  readonly type: OperationType;
  readonly by: Operator | undefined;
  readonly reason: string | undefined;
}

/** Past the limit each operation keeps its own. */
const CAUSES_MAX = 10_000;
const causes = new Map<string, Cause>();

function causeOf({ type, by, reason }: OperationFacts): Cause {
  if (reason !== undefined) return { type, by, reason };
  // Neither a type nor an address has a blank.
  const key = by === undefined ? type : `${type} ${by.address} ${by.name}`;
  const known = causes.get(key);
  if (known !== undefined) return known;
  const cause = { type, by, reason };
  if (causes.size < CAUSES_MAX) causes.set(key, cause);
  return cause;
}
