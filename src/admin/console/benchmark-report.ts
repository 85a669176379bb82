import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What `npm run bench` writes; a container has none. */
const FILE = fileURLToPath(new URL('../../../../bench/report/report.html', import.meta.url));

/** When the benchmarks of this machine were measured last, in milliseconds; null: there is no report. */
export function benchmarkTime(file = FILE): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

export async function maybeBenchmarkReport(file = FILE): Promise<Buffer | undefined> {
  return benchmarkTime(file) === null ? undefined : await readFile(file);
}
