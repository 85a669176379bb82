/** Settings before they are known to be any, as JSON or the environment gives them. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By the names of its groups and its own, with dots between. */
export function valueAt(settings: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), settings);
}
