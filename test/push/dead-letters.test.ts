import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../src/base/user-error.js';
import { DeadLetters } from '../../src/push/dead-letters.js';
import { ReplayFile } from '../../src/push/replay-file.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { eventOf } from './fakes.js';

const [first, second, third] = [1, 2, 3].map((index) => eventOf('anna', index)) as [Event, Event, Event];
type Event = ReturnType<typeof eventOf>;
const FULL = Object.assign(new Error('no space left'), { code: 'ENOSPC' });

function lettersIn(t: TestContext) {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const file = join(folder.path, 'refused');
  return { letters: new DeadLetters(file), file };
}

/** Replays the file in pages of `limit` events: the events, and the message of the error that ended the replay. */
async function replayed(file: string, limit: number) {
  const events: Event[] = [];
  const replay = new ReplayFile(file, limit);
  await replay.open();
  try {
    for (;;) {
      const page = await replay.pull();
      events.push(...page.events);
      if (page.isLast) return { events, fault: undefined };
    }
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return { events, fault: error.message.replace(`${file}: `, '') };
  }
}

/** The next call of the method of any open file runs `failing` on the file, and rejects. */
async function failOnce(t: TestContext, file: string, method: 'appendFile' | 'sync', failing: (data: string) => void) {
  const handle = await open(file);
  const methods = Object.getPrototypeOf(handle) as Pick<FileHandle, 'appendFile' | 'sync'>;
  await handle.close();
  const mock = t.mock.method(methods, method, async (data: string) => {
    mock.mock.restore();
    failing(data);
    throw FULL;
  });
}

test('a full disk leaves no part of a dead letter in the file', async (t) => {
  const { letters, file } = lettersIn(t);
  await letters.add(first);
  await failOnce(t, file, 'appendFile', (line) => appendFileSync(file, line.slice(0, 20)));
  await assert.rejects(letters.add(second), FULL);
  assert.equal(readFileSync(file, 'utf8'), `${JSON.stringify(first)}\n`);
  await letters.add(second);
  assert.deepEqual(await replayed(file, 100), { events: [first, second], fault: undefined });
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a dead letter that is not on disk is not in the file', async (t) => {
  const { letters, file } = lettersIn(t);
  await letters.add(first);
  await failOnce(t, file, 'sync', () => {});
  await assert.rejects(letters.add(second), FULL);
  await letters.add(third);
  assert.deepEqual((await replayed(file, 100)).events, [first, third]);
});

test('a dead letter after one that a crash has torn is replayed', async (t) => {
  const { letters, file } = lettersIn(t);
  await letters.add(first);
  appendFileSync(file, JSON.stringify(second).slice(0, 20));
  await letters.add(second);
  await letters.add(third);
  const fault = 'line 2 is not an event; all others were sent';
  for (const limit of [1, 2, 3, 100]) {
    assert.deepEqual(await replayed(file, limit), { events: [first, second, third], fault });
  }
});

test('a complete dead letter without a newline is kept', async (t) => {
  const { letters, file } = lettersIn(t);
  appendFileSync(file, JSON.stringify(first));
  await letters.add(second);
  assert.deepEqual(await replayed(file, 100), { events: [first, second], fault: undefined });
});

test('a replay names the lines that are not events', async (t) => {
  const { file } = lettersIn(t);
  appendFileSync(file, `{}\n${JSON.stringify(first)}\n\n`);
  const fault = 'lines 1, 3 are not events; all others were sent';
  assert.deepEqual(await replayed(file, 100), { events: [first], fault });
});
