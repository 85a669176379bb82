/** Unchecked settings, as read from JSON or the environment. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value at a dot-separated path. */
export function valueAt(settings: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), settings);
}
