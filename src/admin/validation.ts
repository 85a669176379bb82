import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Schema } from '../base/json-schema.js';
import { isLongerThan } from '../wallet/identifier.js';
import { badRequest, type Problem } from './problem.js';

const DIGITS = /^\d{1,16}$/;

const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  useDefaults: true,
  verbose: true,
  validateSchema: false,
  meta: false,
  // As in the callback schemas, unoptimized code compiles sooner and runs just as fast.
  code: { optimize: false },
});
ajv.addVocabulary(['message']);
ajv.addKeyword({
  keyword: 'codePoints',
  type: 'string',
  compile:
    ([least, most]: [number, number]) =>
    (value: string) =>
      value.length >= least && !isLongerThan(value, most),
});
ajv.addKeyword({
  keyword: 'wellFormed',
  type: 'string',
  validate: (_: boolean, value: string) => value.isWellFormed(),
});
ajv.addKeyword({
  keyword: 'wholeNumber',
  modifying: true,
  compile:
    ([least, most]: [number, number]) =>
    (text, at) => {
      // Convert text to a number. A default already is a number.
      const value = typeof text === 'string' && DIGITS.test(text) ? Number(text) : text;
      if (typeof value !== 'number' || !(value >= least && value <= most)) return false;
      if (at !== undefined) at.parentData[at.parentDataProperty] = value;
      return true;
    },
});

export type Validate = (value: unknown) => true | { readonly error: Problem };

/** Validates values against a schema, fills in its defaults, and describes an invalid value in a sentence. */
export function validatorOf(schema: Schema, what = 'the body'): Validate {
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => validate(value) || { error: badRequest(sentenceOf(validate.errors?.[0], what)) };
}

function sentenceOf(error: ErrorObject | undefined, what: string): string {
  if (error === undefined) return `${what} is not valid`;
  const { instancePath, keyword, params, parentSchema = {} } = error;
  if (keyword === 'required') {
    const properties = parentSchema.properties as Record<string, Schema>;
    return `${params.missingProperty} ${properties[params.missingProperty]?.message}`;
  }
  if (keyword === 'additionalProperties') return `${what} has an unknown field: ${params.additionalProperty}`;
  if (instancePath === '') return `${what} must be a JSON object`;
  return `${instancePath.slice(1)} ${parentSchema.message}`;
}
