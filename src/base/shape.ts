/** True for a value of one shape. Tests data from another process, which may send anything. */
export type Is = (value: unknown) => boolean;

export const isText: Is = (value) => typeof value === 'string';
export const isBoolean: Is = (value) => typeof value === 'boolean';
export const isNumber: Is = (value) => typeof value === 'number' && !Number.isNaN(value);
export const isCount: Is = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const isBytes: Is = (value) => value instanceof Uint8Array;
export const isAnything: Is = () => true;

export const optional =
  (is: Is): Is =>
  (value) =>
    value === undefined || value === null || is(value);
export const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);
export const pairOf =
  (first: Is, second: Is): Is =>
  (value) =>
    Array.isArray(value) && first(value[0]) && second(value[1]);

export function shape(fields: Readonly<Record<string, Is>>): Is {
  const all = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    for (const [name, is] of all) if (!is((value as Record<string, unknown>)[name])) return false;
    return true;
  };
}

export const isTyped = shape({ type: isText });

/** A value whose `type` names its shape. False for a type that is not in the table. */
export function oneOf(shapes: Readonly<Record<string, Is>>): Is {
  return (value) => {
    if (!isTyped(value)) return false;
    const { type } = value as { readonly type: string };
    return Object.hasOwn(shapes, type) && (shapes[type] as Is)(value);
  };
}

/** Like `shape`, for lists of equal length, each of which holds one field of the items. */
export function columns(fields: Readonly<Record<string, Is>>): Is {
  const isShaped = shape(Object.fromEntries(Object.entries(fields).map(([name, is]) => [name, listOf(is)])));
  const names = Object.keys(fields);
  return (value) => {
    if (!isShaped(value)) return false;
    const lists = value as Readonly<Record<string, readonly unknown[]>>;
    const length = lists[names[0] as string]?.length;
    return names.every((name) => lists[name]?.length === length);
  };
}

export const both =
  (...all: readonly Is[]): Is =>
  (value) =>
    all.every((is) => is(value));
