import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The report that `npm run bench` writes; container images do not contain one. */
const FILE = fileURLToPath(new URL('../../../../bench/report/report.html', import.meta.url));

/** The time of this machine's last benchmarks in ms; null if there is no report. */
export function benchmarkTime(file = FILE): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

export async function findBenchmarkReport(file = FILE): Promise<Buffer | undefined> {
  return benchmarkTime(file) === null ? undefined : await readFile(file);
}
