import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What `npm run bench` writes; a container has none. */
const FILE = fileURLToPath(new URL('../../../../bench/report/report.html', import.meta.url));

/** When the benchmarks of this machine were measured last, in milliseconds; null: there is no report. */
export function benchmarkTime(file = FILE): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

export function maybeBenchmarkReport(file = FILE): Buffer | undefined {
  return benchmarkTime(file) === null ? undefined : readFileSync(file);
}
