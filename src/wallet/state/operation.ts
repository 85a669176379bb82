import { assert } from '../../base/assert.js';
import type { Units } from '../amount.js';
import { type Cursor, textBytesMax, writeText } from '../records/bytes.js';
import {
  BLOB_OF_OPERATION,
  D_OPERATION_AFTER,
  D_OPERATION_AMOUNT,
  D_OPERATION_TIME,
  OPERATION_BLOB,
  OPERATION_FLAGS,
  OPERATION_PLAYER,
  scratchOf,
  type Tables,
} from './tables.js';

/** The operator who sent a request: the name of the operator token, and the address from which the request came. */
export interface Operator {
  readonly name: string;
  readonly address: string;
}

export const OPERATION_TYPES = [
  'create',
  'import',
  'deposit',
  'withdrawal',
  'correction',
  'block',
  'unblock',
  /** A movement that waits for a second operator, that a second operator refused, or that was not approved in time. */
  'request',
  'refusal',
  'expiry',
] as const;
export type OperationType = (typeof OPERATION_TYPES)[number];

/** An operator's action on a player's wallet (docs/decisions.md section 5). */
export interface OperationFacts {
  readonly type: OperationType;
  /**
   * The operation's id, unique per player. Empty for operations that can be repeated safely without an id: create,
   * block, unblock.
   */
  readonly id: string;
  /** Signed for a correction and a request; 0 if the operation moves no money. */
  readonly amount: Units;
  /** The balance after the operation. */
  readonly after: Units;
  readonly timeMs: number;
  /** Undefined in old records, which did not include the operator. */
  readonly by?: Operator | undefined;
  /** Present only for corrections. */
  readonly reason?: string | undefined;
  /** The second operator, who approved or refused the request. */
  readonly approver?: Operator | undefined;
  /** Terms of a request that waits for a second operator. */
  readonly request?: RequestTerms | undefined;
}

export interface RequestTerms {
  readonly expiresMs: number;
  readonly allowNegativeBalance: boolean;
}

/** The type of operation that an approved request becomes. */
export function kindOfRequest({ amount, reason }: Pick<OperationFacts, 'amount' | 'reason'>) {
  if (reason !== undefined) return 'correction';
  return amount > 0 ? 'deposit' : 'withdrawal';
}

/** The operation's effect on the balance. */
export function movedBy({ type, amount }: Pick<OperationFacts, 'type' | 'amount'>): Units {
  if (type === 'request' || type === 'refusal' || type === 'expiry') return 0;
  return type === 'withdrawal' ? -amount : amount;
}

/*
 * Flags in one word: the type, three bits that indicate a reason, an approver and terms, and above them the operator's
 * number.
 */
const TYPE_MASK = 0b1111;
const HAS_REASON = 0b1_0000;
const HAS_APPROVER = 0b10_0000;
const HAS_TERMS = 0b100_0000;
const OPERATOR_SHIFT = 7;

/** A view of an operation's row in its wallet. */
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

  /** Writes a row. Called only by `Wallet`, which then adds the row to its list. */
  static write(tables: Tables, player: number, facts: OperationFacts): Operation {
    const { type, id, amount, after, timeMs, by, reason, approver, request } = facts;
    const row = tables.operations.allocate();
    const operation = new Operation(tables, row);
    const { words, doubles, at } = operation;
    const operator = by === undefined ? 0 : tables.operators.take(Operation.signatureOf(by));
    words[at + OPERATION_FLAGS] =
      OPERATION_TYPES.indexOf(type) |
      (reason === undefined ? 0 : HAS_REASON) |
      (approver === undefined ? 0 : HAS_APPROVER) |
      (request === undefined ? 0 : HAS_TERMS) |
      (operator << OPERATOR_SHIFT);
    words[at + OPERATION_PLAYER] = player;
    doubles[(at >> 1) + D_OPERATION_AMOUNT] = amount;
    doubles[(at >> 1) + D_OPERATION_AFTER] = after;
    doubles[(at >> 1) + D_OPERATION_TIME] = timeMs;
    const signature = approver === undefined ? '' : Operation.signatureOf(approver);
    const bytes = scratchOf(textBytesMax(id) + textBytesMax(reason ?? '') + textBytesMax(signature) + TERMS_BYTES);
    let end = writeText(bytes, 0, id);
    if (reason !== undefined) end = writeText(bytes, end, reason);
    if (approver !== undefined) end = writeText(bytes, end, signature);
    if (request !== undefined) {
      end = bytes.writeDoubleLE(request.expiresMs, end);
      end = bytes.writeUInt8(request.allowNegativeBalance ? 1 : 0, end);
    }
    if (end > EMPTY_BYTES) words[at + OPERATION_BLOB] = tables.store(BLOB_OF_OPERATION, row, bytes, end);
    if (id !== '') tables.enterOperation(row);
    return operation;
  }

  /** Name and address as one text. An address contains no blank. */
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

  get approver(): Operator | undefined {
    return (this.facts & HAS_APPROVER) === 0 ? undefined : Operation.operatorOf(this.behindReason().text());
  }

  get request(): RequestTerms | undefined {
    if ((this.facts & HAS_TERMS) === 0) return undefined;
    const cursor = this.behindReason();
    if ((this.facts & HAS_APPROVER) !== 0) cursor.skipText();
    return { expiresMs: cursor.double(), allowNegativeBalance: cursor.byte() === 1 };
  }

  /** Frees the row. Called only by `Wallet`, after removing the row from its list. */
  free(): void {
    const { blob, operator } = this;
    if (this.id !== '') this.tables.leaveOperation(this.row);
    if (blob !== 0) this.tables.blobs.free(blob);
    if (operator !== 0) this.tables.operators.release(operator);
    this.tables.operations.free(this.row);
  }

  private behindReason(): Cursor {
    const cursor = this.tables.cursorAt(this.blob, 0);
    cursor.skipText();
    if ((this.facts & HAS_REASON) !== 0) cursor.skipText();
    return cursor;
  }

  private get operator(): number {
    return this.facts >>> OPERATOR_SHIFT;
  }

  private get blob(): number {
    return this.words[this.at + OPERATION_BLOB] as number;
  }

  private get facts(): number {
    return this.words[this.at + OPERATION_FLAGS] as number;
  }
}

/** Encoded size of an empty text. */
const EMPTY_BYTES = 1;
/** Encoded size of the terms: a double and a byte. */
const TERMS_BYTES = 9;
