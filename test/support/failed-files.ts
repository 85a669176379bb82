import type { TestEvent } from 'node:test/reporters';

/** Reporter for `node --test` that prints the name of each file with a failed test, once and on a line of its own. */
// biome-ignore lint/style/noDefaultExport: node loads a reporter as the default export
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.file === undefined || printed.has(data.file)) continue;
    printed.add(data.file);
    yield `${data.file}\n`;
  }
}
