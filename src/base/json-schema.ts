/*
 * JSON Schemas with the TypeScript type that they describe: plain objects for ajv, fast-json-stringify and OpenAPI,
 * with a type that exists only at compile time. TypeBox offers the same and much more, but loading its 373 files added
 * a quarter of a second to every start of a command or worker.
 */
declare const described: unique symbol;

export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  readonly [described]?: T;
}

/** The TypeScript type that a schema describes. */
export type TypeOf<S> = S extends Schema<infer T> ? T : never;

export type Properties = Readonly<Record<string, Schema>>;
export type NoProperties = Record<never, never>;
type All<P> = { [K in keyof P]: TypeOf<P[K]> };
type Some<P> = { [K in keyof P]?: TypeOf<P[K]> };
/** Additional JSON Schema keywords, e.g. `minimum` or `description`. */
type Keywords = Readonly<Record<string, unknown>>;

export interface ObjectSchema<T = unknown> extends Schema<T> {
  readonly type: 'object';
  readonly properties: Properties;
}

export function object<P extends Properties, O extends Properties = NoProperties>(
  required: P,
  optional?: O,
  keywords?: Keywords,
): ObjectSchema<All<P> & Some<O>> {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required), ...keywords };
}

export function array<T>(items: Schema<T>, keywords?: Keywords): Schema<T[]> {
  return { type: 'array', items, ...keywords };
}

/** An object whose keys match the pattern. */
export function record<T>(keys: RegExp, values: Schema<T>, keywords?: Keywords): Schema<Record<string, T>> {
  return { type: 'object', patternProperties: { [keys.source]: values }, additionalProperties: false, ...keywords };
}

export function string(keywords?: Keywords): Schema<string> {
  return { type: 'string', ...keywords };
}

export function number(keywords?: Keywords): Schema<number> {
  return { type: 'number', ...keywords };
}

export function integer(keywords?: Keywords): Schema<number> {
  return { type: 'integer', ...keywords };
}

export function boolean(keywords?: Keywords): Schema<boolean> {
  return { type: 'boolean', ...keywords };
}

/** One of the listed texts. */
export function choice<const T extends string>(values: readonly T[], keywords?: Keywords): Schema<T> {
  return { type: 'string', enum: values, ...keywords };
}

/** The same schema, but null is accepted as well. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  const { type, enum: values } = schema as { type: string; enum?: unknown[] };
  return { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }) };
}

/**
 * Converts a schema to standard JSON Schema for OpenAPI. Custom keywords become their standard counterparts:
 *
 *   codePoints [least, most]   minLength and maxLength, which also count code points
 *   wholeNumber [least, most]  an integer, which is sent as text in a query string or path
 *   published                  the given standard keywords, for rules that are checked in code
 *   foreign                    `not: {}`, for a field that must be absent
 *   wellFormed, message        left out
 */
export function asPublished(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { codePoints, wholeNumber, wellFormed: _wellFormed, message, foreign, published, ...rest } = value;
    // A field whose name equals a custom keyword is not a keyword.
    if (message !== undefined && typeof message !== 'string') return value;
    if (foreign === true) return { ...rest, not: {} };
    if (wholeNumber !== undefined) {
      return { type: 'integer', minimum: wholeNumber[0], maximum: wholeNumber[1], ...rest };
    }
    const lengths = codePoints && { minLength: codePoints[0], maxLength: codePoints[1] };
    return { ...rest, ...lengths, ...published };
  }) as object;
}
