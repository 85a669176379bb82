import type { ErrorObject } from 'ajv';

/** The kind of reason for which a body is invalid: one of a few words, used as a metric label. */
export type RefusalKind =
  | 'not-json'
  | 'missing'
  | 'type'
  | 'choice'
  | 'range'
  | 'length'
  | 'decimals'
  | 'zero-stake'
  | 'lone-surrogate'
  | 'foreign';

/**
 * A human-readable reason for which a body is invalid: the field and the rule that it breaks. A refusal never quotes
 * the body.
 */
export interface Refusal {
  readonly kind: RefusalKind;
  /** For example `txns[0].betAmount`; empty for the body as a whole. */
  readonly path: string;
  readonly rule: string;
}

export const NOT_JSON: Refusal = { kind: 'not-json', path: '', rule: 'must be a JSON object in UTF-8' };

/**
 * For example `txns[].betAmount: 0 only with isFeature`. The index of an element appears only if `path` contains it.
 */
export function describeRefusal({ path, rule }: Refusal): string {
  return path === '' ? rule : `${path}: ${rule}`;
}

/**
 * The field's name without the index of its element, so that the number of distinct names stays small for any input.
 */
export function fieldOf({ path }: Refusal): string {
  return path.replace(/\[\d+\]/, '[]');
}

/** A field of an element that matches the schema but cannot be converted. Thrown by the conversion. */
export class InvalidField {
  constructor(
    readonly field: string,
    readonly kind: RefusalKind,
    readonly rule: string,
  ) {}

  inTxn(index: number): Refusal {
    const { kind, rule, field } = this;
    return { kind, path: `txns[${index}].${field}`, rule };
  }
}

/** Describes the validator's first error. */
export function refusalOf(error: ErrorObject): Refusal {
  const path = pathOf(error.instancePath);
  const { params, parentSchema = {} } = error;
  switch (error.keyword) {
    case 'required':
      return { kind: 'missing', path: join(path, params.missingProperty), rule: 'is missing' };
    case 'type':
      return { kind: 'type', path, rule: `must be ${withArticle(params.type)}` };
    case 'enum':
      return { kind: 'choice', path, rule: `must be ${(params.allowedValues as string[]).join(' or ')}` };
    case 'minimum':
    case 'maximum':
      return { kind: 'range', path, rule: `must be ${params.comparison} ${params.limit}` };
    case 'minItems':
      return { kind: 'length', path, rule: `must have at least ${params.limit} element` };
    case 'maxItems':
      return { kind: 'length', path, rule: `must have at most ${params.limit} elements (txnsMax)` };
    case 'foreign':
      return { kind: 'foreign', path, rule: 'belongs to another endpoint' };
    case 'codePoints': {
      const [least, most] = parentSchema.codePoints as [number, number];
      return { kind: 'length', path, rule: `must have ${least} to ${most} characters` };
    }
    default:
      return { kind: 'type', path, rule: error.message ?? 'is not valid' };
  }
}

/** Converts `/txns/0/betAmount` to `txns[0].betAmount`. */
function pathOf(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/\/(\d+)/, '[$1]')
    .replace('/', '.');
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
