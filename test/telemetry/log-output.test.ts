import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogOutput } from '../../src/telemetry/log-output.js';

/** A pipe with limited space, and the text that has passed through it. */
class Pipe {
  text = '';

  constructor(public room: number) {}

  readonly write = (bytes: Buffer): number => {
    if (this.room === 0) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
    const written = Math.min(this.room, bytes.length);
    this.text += bytes.subarray(0, written).toString();
    this.room -= written;
    return written;
  };
}

test('lines are written immediately, and a full pipe keeps their order', () => {
  const pipe = new Pipe(12);
  const output = new LogOutput(pipe.write, 100);
  output.write('first\n');
  assert.equal(pipe.text, 'first\n');
  for (const line of ['second\n', 'third\n']) output.write(line);
  assert.equal(pipe.text, 'first\nsecond');
  pipe.room = 100;
  output.write('fourth\n');
  assert.equal(pipe.text, 'first\nsecond\nthird\nfourth\n');
});

test('unread lines have a memory limit, and dropped lines are counted', () => {
  const pipe = new Pipe(0);
  const output = new LogOutput(pipe.write, 250);
  for (let i = 0; i < 10; i++) output.write(`${`line ${i}`.padEnd(99)}\n`);
  pipe.room = 1000;
  output.end();
  const [first, second, reported = '', ...rest] = pipe.text.split('\n');
  assert.deepEqual([first?.trim(), second?.trim(), rest], ['line 0', 'line 1', ['']]);
  const { level, lines, code } = JSON.parse(reported);
  assert.deepEqual({ level, lines, code }, { level: 'warn', lines: 8, code: 'log-lines-dropped' });
});

test('a closed pipe does not stop the process', () => {
  const output = new LogOutput(() => {
    throw Object.assign(new Error('gone'), { code: 'EPIPE' });
  });
  output.write('line\n');
  output.end();
});
