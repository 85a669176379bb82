import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SinkClosed } from '../../../src/push/sink.js';
import { StdoutSink } from '../../../src/push/sinks/stdout.js';
import { eventOf } from '../fakes.js';

test('each event is one line of JSON', async () => {
  let written = '';
  const sink = new StdoutSink(async (text) => {
    written += text;
    return true;
  });
  const events = [1, 2].map((index) => eventOf('a\nb', index));
  await sink.send(events);
  assert.equal(written, `${JSON.stringify(events[0])}\n${JSON.stringify(events[1])}\n`);
});

test('a reader that has closed the pipe closes the sink', async () => {
  await assert.rejects(new StdoutSink(async () => false).send([eventOf('anna', 1)]), SinkClosed);
});
