import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { isKnownMessage } from '../../src/cluster/known-messages.js';
import { isKnown } from '../../src/cluster/known-requests.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import type { WireRequest } from '../../src/threads/protocol.js';
import { LINK_MESSAGES } from '../history/link-messages.js';
import type { SimulatedNode } from '../simulation/simulated-node.js';
import { World } from '../simulation/world.js';

/*
 * Messages as a newer release may send them: of unknown types, with fields that are new, missing or different, and
 * with lists of other lengths.
 */
const packr = new Packr({ useRecords: false, moreTypes: true });
const RUNS = Number(process.env.LINK_RUNS ?? 3000);
const NOT_OBJECTS = [undefined, null, 0, -1, 1.5, Number.NaN, '', 'foresee', true, [], {}, Buffer.alloc(3)];

/** Each value inside the message that can be changed, with a function that changes it. */
function placesIn(value: unknown, places: { readonly holder: object; readonly key: string }[] = []) {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return places;
  for (const [key, inner] of Object.entries(value)) {
    places.push({ holder: value, key });
    placesIn(inner, places);
  }
  return places;
}

const messages = fc
  .tuple(
    fc.constantFrom(...Object.values(LINK_MESSAGES)),
    fc.array(
      fc.record({
        at: fc.nat(),
        how: fc.constantFrom('remove', 'replace', 'add', 'shorten', 'lengthen'),
        by: fc.oneof(fc.constantFrom(...NOT_OBJECTS), fc.jsonValue() as fc.Arbitrary<unknown>),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([original, changes]) => {
    const message = packr.unpack(packr.pack(original)) as PeerMessage;
    for (const { at, how, by: shared } of changes) {
      const by = structuredClone(shared);
      const places = placesIn(message);
      if (places.length === 0) break;
      const { holder, key } = places[at % places.length] as { holder: Record<string, unknown>; key: string };
      const inner = holder[key];
      if (how === 'remove') delete holder[key];
      else if (how === 'add') holder[`new${key}`] = by;
      else if (how === 'replace' || !Array.isArray(inner)) holder[key] = by;
      else if (how === 'shorten') inner.pop();
      else inner.push(by);
    }
    return packr.unpack(packr.pack(message)) as PeerMessage;
  });

async function begun(): Promise<World> {
  const world = new World({ seed: 7, nodes: 2, shards: 4, servers: 1, players: 10, followers: 1 });
  await world.begin();
  return world;
}

const isOfNewer = (message: PeerMessage) =>
  !isKnownMessage(message) || (message.type === 'asks' && !message.requests.every((one) => isKnown(one)));

test('every message that this release sends is known', () => {
  for (const [type, message] of Object.entries(LINK_MESSAGES)) {
    assert.ok(isKnownMessage(packr.unpack(packr.pack(message))), type);
    assert.ok(isKnownMessage({ ...message, foreseen: 1 }), `${type} with a new field`);
  }
});

test('no unknown message throws, breaks a link or stops a shard', async () => {
  const world = await begun();
  const [node, peer] = world.living as [SimulatedNode, SimulatedNode];
  let known = 0;
  let unknown = 0;
  fc.assert(
    fc.property(messages, (message) => {
      if (!isOfNewer(message)) known++;
      else {
        unknown++;
        node.process.here(() => node.cluster.onMessage(peer.tag, message));
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(unknown > known, `${unknown} unknown messages, ${known} known ones`);
  world.bettors.bet(200, 2000);
  await world.time.pass(6000);
  assert.deepEqual([world.bettors.reported.size, ...world.bettors.failures], [400]);
  assert.deepEqual(
    world.living.map(({ serving }) => serving.length),
    [2, 2],
  );
  world.bettors.check();
});

test('no message of known shape throws, whatever its values', async () => {
  const world = await begun();
  const [node, peer] = world.living as [SimulatedNode, SimulatedNode];
  fc.assert(
    fc.property(messages, (message) => {
      node.process.here(() => node.cluster.onMessage(peer.tag, message));
    }),
    { numRuns: RUNS },
  );
});

async function answersTo(...asked: readonly object[]): Promise<readonly PeerMessage[]> {
  const world = await begun();
  const [node, peer] = world.living as [SimulatedNode, SimulatedNode];
  const heard: PeerMessage[] = [];
  const { onMessage } = peer.cluster;
  peer.cluster.onMessage = (tag, message) => {
    if (['unknown', 'replies', 'results'].includes(message.type)) heard.push(message);
    else onMessage.call(peer.cluster, tag, message);
  };
  for (const message of asked) node.process.here(() => node.cluster.onMessage(peer.tag, message as PeerMessage));
  await world.time.pass(1000);
  return heard;
}

test('a message of an unknown type is answered with its type and id', async () => {
  assert.deepEqual(await answersTo({ type: 'foresee', id: 7 }, { type: 'take', shard: 'all' }), [
    { type: 'unknown', of: 'foresee', id: 7 },
    { type: 'unknown', of: 'take', id: undefined },
  ]);
  assert.deepEqual(await answersTo({ type: 'unknown', about: 'foresee' }), [], 'an answer is not answered');
});

test('a message whose type is no text is answered with what it is', async () => {
  assert.deepEqual(await answersTo({ type: [{ toString: {} }], id: 7 }, { id: 8 }), [
    { type: 'unknown', of: 'object', id: 7 },
    { type: 'unknown', of: 'undefined', id: 8 },
  ]);
});

test('messages of the removed durability peers:1 are answered as unknown', async () => {
  const head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0123456789abcdef', checksum: 1 };
  const asked = [
    { type: 'copy', id: 3, copies: [{ shard: 0, base: head, entries: [], isWhole: true }] },
    { type: 'seal', id: 4, shard: 0, sequence: 1 },
    { type: 'unseal', shard: 0 },
    { type: 'known' },
  ];
  assert.deepEqual(await answersTo(...asked), [
    { type: 'unknown', of: 'copy', id: 3 },
    { type: 'unknown', of: 'seal', id: 4 },
    { type: 'unknown', of: 'unseal', id: undefined },
    { type: 'unknown', of: 'known', id: undefined },
  ]);
});

test('callbacks and requests in an unknown shape are answered one by one', async () => {
  const callbacks = { firstId: 7, endpoints: ['placeBets', 'placeBets'], bodies: [[1], [2]] };
  const query = { type: 'list-transactions', username: 'ann', page: 2 };
  const requests: readonly object[] = [{ id: 3, shard: 0, deadlineMs: 1, query }];
  const [replies, results] = await answersTo({ type: 'calls', callbacks }, { type: 'asks', requests });
  assert.ok(replies?.type === 'replies' && results?.type === 'results');
  assert.deepEqual(
    [replies.replies.ids, replies.replies.failures],
    [
      [7, 8],
      ['upgrading', 'upgrading'],
    ],
  );
  assert.deepEqual([results.ids, results.results], [[3], [{ type: 'failed', failure: 'upgrading' }]]);
});

test('a command without a field that the decision reads is not known', () => {
  const about = { id: 1, shard: 0, deadlineMs: 1 };
  const deposit = { type: 'deposit', id: 'd', username: 'ann', amount: 5 };
  assert.ok(isKnown({ ...about, command: deposit } as WireRequest));
  for (const lacking of ['id', 'username', 'amount']) {
    assert.ok(!isKnown({ ...about, command: { ...deposit, [lacking]: undefined } } as unknown as WireRequest), lacking);
  }
  for (const amount of ['5', 5.5, 2 ** 60]) {
    assert.ok(!isKnown({ ...about, command: { ...deposit, amount } } as unknown as WireRequest), String(amount));
  }
});
