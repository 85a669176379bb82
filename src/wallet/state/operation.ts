import { assert } from '../../base/assert.js';
import type { Units } from '../amount.js';
import { textBytesMax, writeText } from '../records/bytes.js';
import {
  BLOB_OF_OPERATION,
  D_OPERATION_AFTER,
  D_OPERATION_AMOUNT,
  D_OPERATION_TIME,
  OPERATION_BLOB,
  OPERATION_FACTS,
  OPERATION_PLAYER,
  scratchOf,
  type Tables,
} from './tables.js';

/** The operator behind a request: the name of its token, and the address that it came from. */
export interface Operator {
  readonly name: string;
  readonly address: string;
}

export const OPERATION_TYPES = ['create', 'import', 'deposit', 'withdrawal', 'correction', 'block', 'unblock'] as const;
export type OperationType = (typeof OPERATION_TYPES)[number];

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

/* In one word: the type, whether there is a reason, and above them the number of who did it. */
const TYPE_MASK = 0b111;
const HAS_REASON = 0b1000;
const OPERATOR_SHIFT = 4;

/** An operation as its wallet remembers it. A view of its row. */
export class Operation implements OperationFacts {
  private readonly words: Uint32Array;
  private readonly doubles: Float64Array;
  private readonly at: number;

  constructor(
    private readonly tables: Tables,
    readonly row: number,
  ) {
    this.words = tables.operations.wordsOf(row);
    this.doubles = tables.operations.doublesOf(row);
    this.at = tables.operations.at(row);
  }

  /** Only `Wallet` calls it, which puts the row on its list. */
  static write(tables: Tables, player: number, facts: OperationFacts): Operation {
    const { type, id, amount, after, timeMs, by, reason } = facts;
    const row = tables.operations.allocate();
    const operation = new Operation(tables, row);
    const { words, doubles, at } = operation;
    const operator = by === undefined ? 0 : tables.operators.take(Operation.signatureOf(by));
    words[at + OPERATION_FACTS] =
      OPERATION_TYPES.indexOf(type) | (reason === undefined ? 0 : HAS_REASON) | (operator << OPERATOR_SHIFT);
    words[at + OPERATION_PLAYER] = player;
    doubles[(at >> 1) + D_OPERATION_AMOUNT] = amount;
    doubles[(at >> 1) + D_OPERATION_AFTER] = after;
    doubles[(at >> 1) + D_OPERATION_TIME] = timeMs;
    const bytes = scratchOf(textBytesMax(id) + textBytesMax(reason ?? ''));
    let end = writeText(bytes, 0, id);
    if (reason !== undefined) end = writeText(bytes, end, reason);
    if (end > EMPTY_BYTES) words[at + OPERATION_BLOB] = tables.store(BLOB_OF_OPERATION, row, bytes, end);
    if (id !== '') tables.enterOperation(row);
    return operation;
  }

  /** One text: an address has no blank. */
  static signatureOf({ name, address }: Operator): string {
    return `${address} ${name}`;
  }

  static operatorOf(signature: string): Operator {
    const blank = signature.indexOf(' ');
    assert(blank > 0, 'an operator has an address');
    return { name: signature.slice(blank + 1), address: signature.slice(0, blank) };
  }

  get type(): OperationType {
    return OPERATION_TYPES[this.facts & TYPE_MASK] as OperationType;
  }

  get id(): string {
    const { blob } = this;
    return blob === 0 ? '' : this.tables.textAt(blob);
  }

  get amount(): Units {
    return this.doubles[(this.at >> 1) + D_OPERATION_AMOUNT] as Units;
  }

  get after(): Units {
    return this.doubles[(this.at >> 1) + D_OPERATION_AFTER] as Units;
  }

  get timeMs(): number {
    return this.doubles[(this.at >> 1) + D_OPERATION_TIME] as number;
  }

  get by(): Operator | undefined {
    const { operator } = this;
    if (operator === 0) return undefined;
    return Operation.operatorOf(this.tables.operators.text(operator));
  }

  get reason(): string | undefined {
    if ((this.facts & HAS_REASON) === 0) return undefined;
    const cursor = this.tables.cursorAt(this.blob, 0);
    cursor.skipText();
    return cursor.text();
  }

  /** Only `Wallet` calls it, which has taken it from its list. */
  free(): void {
    const { blob, operator } = this;
    if (this.id !== '') this.tables.leaveOperation(this.row);
    if (blob !== 0) this.tables.blobs.free(blob);
    if (operator !== 0) this.tables.operators.release(operator);
    this.tables.operations.free(this.row);
  }

  private get operator(): number {
    return this.facts >>> OPERATOR_SHIFT;
  }

  private get blob(): number {
    return this.words[this.at + OPERATION_BLOB] as number;
  }

  private get facts(): number {
    return this.words[this.at + OPERATION_FACTS] as number;
  }
}

/** Of an empty text. */
const EMPTY_BYTES = 1;
