import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../../src/base/user-error.js';
import { type PumpDeps, pump } from '../../src/push/pump.js';
import { SinkClosed } from '../../src/push/sink.js';
import { eventOf, FakeFeed, FakeSink, VirtualRetries } from './fakes.js';

const EVENTS = [1, 2, 3, 4, 5].map((index) => eventOf('anna', index));

function depsOf(retries: VirtualRetries, source: FakeFeed, sink: FakeSink): PumpDeps {
  return {
    source,
    sink,
    sourceRetry: retries.retry('server'),
    sinkRetry: retries.retry('sink'),
    log: retries.log,
    stop: retries.stopping.signal,
    pace: async () => {},
  };
}

test('a page is acknowledged once the sink has confirmed it', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => retries.stopping.abort());
  const sink = new FakeSink();
  const confirmedAt: number[] = [];
  const acknowledge = feed.acknowledge.bind(feed);
  feed.acknowledge = async (position) => {
    confirmedAt.push(sink.confirmed.length);
    await acknowledge(position);
  };
  assert.deepEqual(await pump(depsOf(retries, feed, sink)), { events: 5 });
  assert.deepEqual(sink.confirmed, EVENTS);
  assert.deepEqual(
    [feed.acknowledged, confirmedAt],
    [
      ['2', '4', '5'],
      [2, 4, 5],
    ],
  );
});

test('a sink that is away gets the page again, and each change is logged once', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => retries.stopping.abort());
  const sink = new FakeSink(8);
  await pump(depsOf(retries, feed, sink));
  assert.deepEqual(sink.confirmed, EVENTS);
  assert.deepEqual(retries.log.lines, ['warn feed-sink-away', 'info sink back']);
  assert.deepEqual(retries.pausesMs, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(feed.pulls, 3, 'no page is pulled while the sink is away');
});

test('a stop during an outage acknowledges nothing of the current page', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => {});
  const sink = new FakeSink(1000, () => {
    if (sink.failures === 990) retries.stopping.abort();
  });
  assert.deepEqual(await pump(depsOf(retries, feed, sink)), { events: 0 });
  assert.deepEqual(feed.acknowledged, []);
});

test('a stop while the sink takes a page still acknowledges the page', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => {});
  const sink = new FakeSink();
  const send = sink.send.bind(sink);
  sink.send = async (events) => {
    retries.stopping.abort();
    await send(events);
  };
  assert.deepEqual(await pump(depsOf(retries, feed, sink)), { events: 2 });
  assert.deepEqual(feed.acknowledged, ['2']);
});

test('a server that is away is asked again', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => retries.stopping.abort());
  const pull = feed.pull.bind(feed);
  let failures = 3;
  feed.pull = async () => {
    if (failures-- > 0) throw new Error('connection refused');
    return await pull();
  };
  const sink = new FakeSink();
  await pump(depsOf(retries, feed, sink));
  assert.deepEqual(sink.confirmed, EVENTS);
  assert.deepEqual(retries.log.lines, ['warn feed-server-away', 'info server back']);
});

test('a feed that the server refuses ends the pump with the refusal', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => {});
  feed.pull = async () => {
    throw new UserError('there is no such feed');
  };
  await assert.rejects(pump(depsOf(retries, feed, new FakeSink())), { message: 'there is no such feed' });
});

test('a closed sink ends the pump and acknowledges nothing', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => {});
  const sink = new FakeSink();
  let pages = 0;
  sink.send = async () => {
    if (++pages === 2) throw new SinkClosed();
  };
  assert.deepEqual(await pump(depsOf(retries, feed, sink)), { events: 2 });
  assert.deepEqual(feed.acknowledged, ['2']);
});

test('deleted parts of the log are logged as an error', async () => {
  const retries = new VirtualRetries();
  const feed = new FakeFeed(EVENTS, () => retries.stopping.abort(), [{ shard: 0, from: '1-1', to: '1-9' }]);
  await pump(depsOf(retries, feed, new FakeSink()));
  assert.deepEqual(retries.log.lines, ['error feed-events-lost']);
});
