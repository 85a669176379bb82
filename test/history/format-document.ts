import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Change, Event, RoundsArchived } from '../../src/wallet/event.js';
import type { Operator } from '../../src/wallet/state/operation.js';

/** A description of one type of event or change in FORMAT.md. */
interface DocumentedType {
  readonly number: number;
  /** Fields by position in the array. Optional fields may be missing at the end. */
  readonly fields: ReadonlyMap<number, { readonly name: string; readonly isOptional: boolean }>;
  readonly flags: readonly string[];
}

/** FORMAT.md row of callbacks that remember their messages: the same event under a different number. */
export const CALLBACK_THAT_REMEMBERS = 'callback-that-remembers';

const FILE = new URL('../../../src/store/format/FORMAT.md', import.meta.url);

/** The tables of FORMAT.md, for comparison with stored arrays. */
export class FormatDocument {
  readonly events: ReadonlyMap<string, DocumentedType>;
  readonly changes: ReadonlyMap<string, DocumentedType>;
  readonly endpoints: readonly string[];
  /** The example entry as hexadecimal digits. */
  readonly example: string;
  private readonly flagBits: ReadonlyMap<string, number>;

  constructor() {
    const text = readFileSync(FILE, 'utf8');
    const rows = (title: string) => rowsOf(text.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? '');
    this.events = new Map(rows('Events').map(documentedType));
    this.changes = new Map(rows('Changes').map(documentedType));
    this.flagBits = new Map(rows('Flags').map(([bit, name = '']) => [name, Number(bit)]));
    this.endpoints = rows('Endpoints').map(([, name = '']) => name);
    const dump = text.matchAll(/^ *\d+ {2}((?:[0-9a-f]+ )+) /gm);
    this.example = Array.from(dump, ([, digits = '']) => digits.replaceAll(' ', '')).join('');
  }

  checkEvent(tuple: readonly unknown[], event: Event, entryTimeMs: number): void {
    const { type, username, version, timeMs } = event;
    assert.deepEqual(tuple.slice(1, 4), [username, version, timeMs - entryTimeMs], type);
    const remembers = event.type === 'callback-applied' && event.remembers;
    this.checkFields(tuple, 4, event, this.events.get(remembers ? CALLBACK_THAT_REMEMBERS : type));
  }

  private checkChange(tuple: readonly unknown[], change: Change): void {
    const documented = this.changes.get(change.type);
    this.checkFields(tuple, 1, change, documented);
    const flags = flagsOf(change).map(([flag]) => flag);
    assert.deepEqual([...(documented?.flags ?? [])].sort(), flags.sort(), `the flags of ${change.type}`);
  }

  private checkFields(
    tuple: readonly unknown[],
    start: number,
    made: Event | Change,
    documented: DocumentedType | undefined,
  ): void {
    assert.equal(tuple[0], documented?.number, `the number of ${made.type}`);
    const positions = Array.from({ length: tuple.length - start }, (_, index) => start + index);
    const fields = [...(documented?.fields ?? [])].filter(([at, { isOptional }]) => at < tuple.length || !isOptional);
    assert.deepEqual(
      fields.map(([at]) => at),
      positions,
      `the positions of ${made.type}`,
    );
    for (const [at, { name }] of documented?.fields ?? []) this.checkField(name, tuple[at], made);
  }

  private checkField(field: string, value: unknown, made: Event | Change): void {
    if (field === 'changes' && made.type === 'callback-applied') {
      const tuples = value as unknown[][];
      assert.equal(tuples.length, made.changes.length);
      for (const [index, change] of made.changes.entries()) this.checkChange(tuples[index] as unknown[], change);
    } else if (field === 'flags') {
      const bits = flagsOf(made as Change).map(([flag, isSet]) => (isSet ? (this.flagBits.get(flag) ?? 0) : 0));
      const sum = bits.reduce((all, bit) => all + bit, 0);
      assert.equal(value ?? 0, sum, `the bits of ${made.type}`);
    } else if (field === 'mark') {
      const { mark } = made as RoundsArchived;
      assert.deepEqual(value, mark && [mark.epoch, mark.sequence, mark.index]);
    } else if (field === 'by' || field === 'approvedBy') {
      const by = (made as { by?: Operator; approvedBy?: Operator })[field];
      assert.deepEqual(value ?? undefined, by && [by.name, by.address], `${field} of ${made.type}`);
    } else if (field === 'rounds') {
      const names = (value as string[][]).flatMap(([productId, ...ids]) =>
        ids.map((roundId) => ({ productId, roundId })),
      );
      assert.deepEqual(names, (made as { rounds?: object[] }).rounds, `the rounds of ${made.type}`);
    } else {
      const read = field === 'endpoint' ? this.endpoints[value as number] : value;
      assert.deepEqual(read, (made as unknown as Record<string, unknown>)[field], `${field} of ${made.type}`);
    }
  }
}

/** Flags of a change, each with its value. */
export function flagsOf(change: Change): [flag: string, isSet: boolean][] {
  return Object.entries(change).flatMap(([field, value]): [string, boolean][] => {
    if (field === 'status') return [['WAITING', value === 'WAITING']];
    if (field === 'state') return [['REJECT', value === 'REJECT']];
    return typeof value === 'boolean' ? [[field, value]] : [];
  });
}

/** Cells of all table rows that begin with a number. A cell with a single name loses its quotes. */
function rowsOf(section: string): string[][] {
  return [...section.matchAll(/^\| (\d+ \|.*)\|$/gm)].map(([, row = '']) => {
    return row.split('|').map((cell) => cell.trim().replace(/^`([\w-]+)`$/, '$1'));
  });
}

function documentedType([number, type = '', positions = '', flags = '']: string[]): [string, DocumentedType] {
  const fields = [...positions.matchAll(/(\d+) `(\w+)`(\?)?/g)].map(([, at, name = '', mark]) => {
    return [Number(at), { name, isOptional: mark !== undefined }] as const;
  });
  return [type, { number: Number(number), fields: new Map(fields), flags: flags.match(/\w+/g) ?? [] }];
}
