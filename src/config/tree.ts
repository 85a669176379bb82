/** Settings as JSON or the environment gives them, not yet checked. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of names with dots between. */
export function valueAt(settings: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), settings);
}
