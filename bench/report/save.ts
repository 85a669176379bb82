import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ROOT } from '../../test/support/root.js';
import { environment } from '../support/environment.js';
import { reportOf } from './report.js';
import type { Results } from './results.js';

export interface SaveSettings {
  readonly folder: string;
  /** The file for the raw results. */
  readonly json?: string;
}

const REPORT = `${ROOT}bench/report/report.html`;

/** Checks that the output file is writable before the bench spends a quarter of an hour. Throws a user error. */
export function mustBeWritable({ json }: SaveSettings): void {
  for (const file of json === undefined ? [REPORT] : [REPORT, json]) {
    try {
      accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${file} is a folder`);
    } catch (error) {
      throw new Error(`results cannot be written: ${(error as Error).message}`);
    }
  }
}

/** Writes the report page, and the raw results on request. */
export function save(measured: Omit<Results, 'environment'>, { folder, json }: SaveSettings): void {
  const results: Results = { environment: environment(folder), ...measured };
  writeFileSync(REPORT, reportOf(results));
  console.log(`\nreport: ${REPORT}`);
  if (json === undefined) return;
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`);
  console.log(`raw results: ${json}`);
}
