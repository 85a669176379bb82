import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { compiledOf, type Killer } from './mutant.js';

const ENDS_BY_ITSELF = new URL('../support/ends-by-itself.js', import.meta.url).href;

/** Time limit of a test; kills mutants that make the test wait forever. */
const TEST_MS = 60_000;
/** Time limit of the whole process. */
const PROCESS_MS = 90_000;

export interface Run {
  /**
   * passed   the test ran, and nothing failed
   * failed   the test failed, or its process ended or hung
   * absent   no test has this title
   */
  readonly type: 'passed' | 'failed' | 'absent';
  /** The end of the output, for the report. */
  readonly output: string;
  readonly tookMs: number;
}

/** Runs a single test in the tree at `root`. Temporary files go to `temp`. */
export async function runKiller({ file, title }: Killer, root: string, temp = tmpdir()): Promise<Run> {
  const startedMs = performance.now();
  const args = [
    `--import=${ENDS_BY_ITSELF}`,
    '--test',
    '--test-reporter=tap',
    `--test-timeout=${TEST_MS}`,
    `--test-name-pattern=${escaped(title)}`,
    compiledOf(file),
  ];
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, TMPDIR: temp, NIGHTLY: '1' };
  // Uses a separate process group, so that servers started by the test end with it.
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // The process group has already exited.
    }
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const timer = setTimeout(endGroup, PROCESS_MS);
  process.once('exit', endGroup);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  process.off('exit', endGroup);
  endGroup();
  // Newer versions of Node count a file without a matching test as a passed test, so look for the title.
  const line = new RegExp(`^ *ok \\d+ - .*${escaped(title)}`, 'm');
  const hasPassed = line.test(output.replaceAll('\\', ''));
  const type = code !== 0 ? 'failed' : hasPassed ? 'passed' : 'absent';
  return { type, output: output.slice(-4000), tookMs: performance.now() - startedMs };
}

function escaped(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
