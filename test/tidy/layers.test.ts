import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Rooms that use no package, no I/O and no clock. */
const CORE = ['ports', 'archive', 'log', 'engine', 'snapshot'];

/**
 * Allowed imports: a room may import only from the rooms in its row. A room is a folder of `src`, or a folder of
 * `src/node`. `node/boot` connects all parts, and `cli` runs it.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  // CSV writer shared by the terminal and the console.
  csv: [],
  wallet: ['base'],
  // The ports that stores, archives and the cluster's registry implement.
  ports: ['wallet', 'base'],
  // The public events of the log, as pure functions.
  feed: ['ports', 'wallet', 'base'],
  archive: ['ports', 'wallet', 'base'],
  log: ['archive', 'ports', 'wallet', 'base'],
  engine: ['log', 'archive', 'ports', 'wallet', 'base'],
  snapshot: ['engine', 'log', 'ports', 'wallet', 'base'],
  upkeep: ['snapshot', 'engine', 'log', 'archive', 'ports', 'wallet', 'base'],
  store: ['archive', 'log', 'ports', 'wallet', 'base'],
  // Plays the platform against any operator. It must not share the wallet's code, because it checks that code.
  simulate: ['tools', 'base'],
  tools: ['snapshot', 'log', 'feed', 'archive', 'ports', 'wallet', 'listener', 'base'],
  callback: ['wallet', 'base'],
  threads: ['callback', 'upkeep', ...CORE, 'wallet', 'base'],
  // The life of one shard as a pure state machine.
  replica: ['threads', 'engine', 'ports', 'base'],
  cluster: ['replica', 'threads', 'callback', 'snapshot', 'engine', 'log', 'ports', 'wallet', 'base'],
  // Admission rules, shared by all listeners.
  listener: ['base'],
  peer: ['cluster', 'listener', 'base'],
  http: ['callback', 'wallet', 'listener', 'telemetry', 'base'],
  admin: ['feed', 'replica', 'callback', 'wallet', 'listener', 'telemetry', 'base'],
  // The console page uses the API's types for live data, and the CSV writer.
  console: ['admin', 'csv'],
  // The process that pushes a feed to a sink.
  push: ['base'],
  config: ['base'],
  telemetry: ['base'],
};
const BELOW_NODE = Object.keys(ARROWS);
/** The folders of `src/node` and the other folders of `src/node` that each may import. */
const NODE: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  folder: ['settings'],
  drivers: ['settings'],
  jobs: ['drivers', 'folder', 'settings'],
  metrics: ['jobs', 'folder', 'settings'],
  overview: [],
  boot: ['overview', 'metrics', 'jobs', 'drivers', 'folder', 'settings'],
};
const inNode = (name: string) => `node/${name}`;
const ROWS: Readonly<Record<string, readonly string[]>> = {
  ...ARROWS,
  ...Object.fromEntries(
    Object.entries(NODE).map(([name, others]) => [inNode(name), [...others.map(inNode), ...BELOW_NODE]]),
  ),
  cli: [...Object.keys(NODE).map(inNode), ...BELOW_NODE],
};

const ROOT = fileURLToPath(new URL('../../../src/', import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));

/** All imports between folders. Type imports count as well, because they are dependencies. */
const imports = importsIn(ROOT);

function importsIn(root: string): Import[] {
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return sources.flatMap((from) => importsOf(from, readFileSync(join(root, from), 'utf8')));
}

function importsOf(from: string, text: string): Import[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from '([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g,
  );
  return [...found].map((match) => ({ from, to: (match[1] ?? match[2] ?? match[3]) as string }));
}

const folderOf = (file: string) => file.split('/')[0] as string;

function roomOf(file: string): string {
  const [folder, name] = file.split('/');
  return folder === 'node' ? inNode(name as string) : (folder as string);
}

function target({ from, to }: Import): string | undefined {
  if (!to.startsWith('.')) return undefined;
  const path = relative(ROOT, join(ROOT, dirname(from), to));
  const source = path.replace(/\.js$/, '.ts');
  return files.includes(source) || !path.endsWith('.js') ? source : `${source}x`;
}

test('the test detects imports', () => {
  assert.ok(files.length > 50 && imports.length > 200, `${files.length} files, ${imports.length} imports`);
});

test('a room imports only from the rooms in its row', () => {
  const wrong = imports.filter((one) => {
    const to = target(one);
    const room = roomOf(one.from);
    return to !== undefined && roomOf(to) !== room && !ROWS[room]?.includes(roomOf(to));
  });
  assert.deepEqual(wrong, []);
});

test("a tool's folder imports no other tool's folder, only shared files", () => {
  const toolOf = (file: string) => /^tools\/([^/]+)\//.exec(file)?.[1];
  const wrong = imports.filter((one) => {
    const to = toolOf(target(one) ?? '');
    return folderOf(one.from) === 'tools' && to !== undefined && to !== toolOf(one.from);
  });
  assert.deepEqual(wrong, []);
});

test("benches and tests share only test/support, and only the benches' own tests import benches", () => {
  const of = (room: string) =>
    importsIn(join(ROOT, '..', room)).map(
      ({ from, to }) => [`${room}/${from}`, join(room, dirname(from), to)] as const,
    );
  const shared = of('bench').filter(([, to]) => to.startsWith('test/'));
  assert.ok(shared.length > 10);
  const astray = [
    ...shared.filter(([, to]) => !to.startsWith('test/support/')),
    ...of('test').filter(([from, to]) => to.startsWith('bench/') && !from.startsWith('test/bench/')),
  ];
  assert.deepEqual(astray, []);
});

test('every file is in a room that has a row', () => {
  for (const room of new Set(files.map(roomOf))) assert.ok(room in ROWS, room);
});

test('there are no import cycles', () => {
  const edges = new Map<string, string[]>();
  for (const one of imports) {
    const to = target(one);
    if (to !== undefined) edges.set(one.from, [...(edges.get(one.from) ?? []), to]);
  }
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
    if (done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

/** True if a hash function is imported, because its result depends only on its input. */
const isPure = ({ from, to }: (typeof imports)[number]) => from === 'wallet/audit-chain.ts' && to === 'node:crypto';

test('the domain and base folders use no package and no Node I/O', () => {
  const outside = imports.filter(
    (one) => ['wallet', 'base'].includes(folderOf(one.from)) && target(one) === undefined && !isPure(one),
  );
  assert.deepEqual(outside, []);
});

test('the core uses no package and no Node I/O', () => {
  const outside = imports.filter((one) => CORE.includes(folderOf(one.from)) && target(one) === undefined);
  assert.deepEqual(outside, []);
});

test('the domain does not use clocks or random numbers', () => {
  for (const file of files.filter((one) => ['wallet', ...CORE].includes(folderOf(one)))) {
    assert.doesNotMatch(
      readFileSync(join(ROOT, file), 'utf8'),
      /Date\.now|Math\.random|performance\.now|new Date\(\)/,
      file,
    );
  }
});

test('only one file loads uWebSockets.js', () => {
  const users = new Set(imports.filter(({ to }) => to === 'uWebSockets.js').map(({ from }) => from));
  assert.deepEqual([...users], ['http/uws.ts']);
});

test('only one file loads OpenTelemetry, and only if traces are enabled', () => {
  const users = new Set(imports.filter(({ to }) => to.startsWith('@opentelemetry/')).map(({ from }) => from));
  assert.deepEqual([...users], ['node/jobs/otlp-tracer.ts']);
  const loading = imports.filter((one) => target(one) === 'node/jobs/otlp-tracer.ts').map(({ from }) => from);
  assert.deepEqual(loading, ['node/jobs/tracing.ts']);
  assert.match(readFileSync(join(ROOT, 'node/jobs/tracing.ts'), 'utf8'), /await import\('\.\/otlp-tracer\.js'\)/);
});

test('the architecture page draws the arrows of this test', () => {
  const page = readFileSync(join(ROOT, '../docs/architecture.md'), 'utf8');
  const drawn = new Map<string, string[]>();
  for (const [, from = '', to = ''] of page.matchAll(/^([a-z, ]+?) +-> ([a-z, ()]+)$/gm)) {
    for (const folder of from.split(', ')) drawn.set(folder, to.replace(/ \([^)]*\)/g, '').split(', '));
  }
  for (const [folder, arrows] of Object.entries(ARROWS)) {
    if (arrows.length > 0) assert.deepEqual([...(drawn.get(folder) ?? [])].sort(), [...arrows].sort(), folder);
  }
});

test('a client of a message server is loaded only by its sink', () => {
  const users = (name: string) => imports.filter(({ to }) => to.startsWith(name)).map(({ from }) => from);
  assert.deepEqual([...new Set(users('@nats-io/'))], ['push/sinks/nats.ts']);
  assert.deepEqual([...new Set(users('amqplib'))], ['push/sinks/amqp.ts']);
  const loaders = imports.filter((one) => /^push\/sinks\//.test(target(one) ?? '')).map(({ from }) => from);
  assert.deepEqual([...new Set(loaders)], ['cli/feed-sink.ts']);
});
