import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from './pages.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** The matrix's variable in the name of an image. */
const VARIABLE = /\$\{.*\}/;

interface Step {
  readonly run?: string;
}
interface GithubJob {
  readonly container: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly Step[];
}
interface GitlabJob {
  readonly image: string;
  readonly parallel?: { readonly matrix: readonly { readonly NODE: readonly string[] }[] };
  readonly script: readonly string[];
}

/** One host's job that runs a script of `.ci`: the image, the Nodes of its matrix, and the commands. */
interface Job {
  readonly image: string;
  readonly nodes: readonly number[];
  readonly commands: readonly string[];
}

function githubJob(name: string): Job {
  const { jobs } = parse(read(`.github/workflows/${name}.yml`)) as { jobs: { run: GithubJob } };
  const { container, strategy, steps } = jobs.run;
  return {
    image: container.replace(VARIABLE, 'NODE'),
    nodes: strategy?.matrix.node ?? [],
    commands: steps.flatMap(({ run }) => run ?? []),
  };
}

function gitlabJob(name: 'run' | 'nightly'): Job {
  const { image, parallel, script } = (parse(read('.gitlab-ci.yml')) as Record<typeof name, GitlabJob>)[name];
  const nodes = parallel?.matrix.flatMap(({ NODE }) => NODE.map(Number)) ?? [];
  return { image: image.replace(VARIABLE, 'NODE'), nodes, commands: script };
}

/** Commands of a script in `.ci`, without comments. */
const linesOf = (path: string) => read(path).replaceAll(/^\s*#.*$/gm, '');

for (const [host, change, night] of [
  ['GitHub', () => githubJob('ci'), () => githubJob('nightly')],
  ['GitLab', () => gitlabJob('run'), () => gitlabJob('nightly')],
] as const) {
  test(`${host} runs .ci/run on every supported Node`, () => {
    const { image, nodes, commands } = change();
    assert.equal(image, 'node:NODE-bookworm');
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const [, min, next] = /^>=(\d+)\.\d+ <(\d+)$/.exec(engines.node) ?? [];
    const even = Array.from({ length: 50 }, (_, i) => 2 * i).filter((n) => n >= Number(min) && n < Number(next));
    assert.deepEqual(nodes, even);
    assert.equal(commands.at(-1), '.ci/run');
  });

  test(`${host} runs .ci/nightly on the Node of .nvmrc`, () => {
    const { image, commands } = night();
    assert.equal(image, `node:${read('.nvmrc').trim()}-bookworm`);
    assert.equal(commands.at(-1), '.ci/nightly');
  });
}

for (const script of ['.ci/run', '.ci/nightly']) {
  test(`every script and npm command in ${script} exists`, () => {
    accessSync(join(ROOT, script), constants.X_OK);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const text = linesOf(script);
    const commands = [...text.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(([, name = '']) => name);
    const files = [...text.matchAll(/\bsh (\S+\.sh)/g)].map(([, path = '']) => path);
    assert.ok(commands.length > 0 && files.length > 0);
    for (const name of commands) assert.ok(name in scripts, `npm run ${name}`);
    for (const path of files) assert.ok(existsSync(join(ROOT, path)), path);
  });
}
