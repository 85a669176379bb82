import type { ErrorObject } from 'ajv';

/**
 * The kind of rule that an invalid body breaks. There are only a few kinds, because the kind is used as a metric label.
 */
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
 * The reason why a body is invalid, in human-readable form: the field, and the rule that it breaks. A refusal never
 * quotes the body.
 */
export interface BodyRefusal {
  readonly kind: RefusalKind;
  /** The field, for example `txns[0].betAmount`; empty if the body as a whole is invalid. */
  readonly path: string;
  readonly rule: string;
}

export const NOT_JSON: BodyRefusal = { kind: 'not-json', path: '', rule: 'must be a JSON object in UTF-8' };

/**
 * The reason as text, for example `txns[].betAmount: 0 only with isFeature`. It contains the index of an element only
 * if `path` does.
 */
export function describeRefusal({ path, rule }: BodyRefusal): string {
  return path === '' ? rule : `${path}: ${rule}`;
}

/**
 * The field's name without the index of its element. The number of different names therefore stays small, whatever a
 * platform sends.
 */
export function fieldOf({ path }: BodyRefusal): string {
  return path.replace(/\[\d+\]/, '[]');
}

/** Thrown when a field of an element matches the schema but cannot be converted. */
export class InvalidField {
  constructor(
    readonly field: string,
    readonly kind: RefusalKind,
    readonly rule: string,
  ) {}

  inTxn(index: number): BodyRefusal {
    const { kind, rule, field } = this;
    return { kind, path: `txns[${index}].${field}`, rule };
  }
}

/** Describes the first error that the validator found. */
export function refusalOf(error: ErrorObject): BodyRefusal {
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
