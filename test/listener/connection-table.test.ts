import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConnectionTable, type Place, type Standing } from '../../src/listener/connection-table.js';

const LIMITS = { connectionsMax: 4, perAddressMax: 3 };

test('the oldest silent connection from the address with the most connections is closed first', () => {
  const table = new ConnectionTable<number>(LIMITS);
  const [a1, b1] = [table.enter(1, 'a'), table.enter(2, 'b')];
  const [b2, c1] = [table.enter(3, 'b'), table.enter(4, 'c')];
  assert.equal(table.findExcess(c1), undefined);
  const newcomer = table.enter(5, 'd');
  assert.equal(table.findExcess(newcomer), b1);
  table.setStanding(b1, 'idle');
  assert.equal(table.findExcess(newcomer), a1);
  for (const place of [a1, b2, c1]) table.setStanding(place, 'busy');
  assert.equal(table.findExcess(newcomer), b1, 'the idle one');
  table.setStanding(b1, 'busy');
  assert.equal(table.findExcess(newcomer), newcomer, 'all others are busy');
});

test('an address at its limit loses one of its own connections', () => {
  const table = new ConnectionTable<number>({ connectionsMax: 100, perAddressMax: 2 });
  const [other, first] = [table.enter(0, 'b'), table.enter(1, 'a')];
  table.enter(2, 'a');
  assert.equal(table.findExcess(other), undefined);
  assert.equal(table.findExcess(table.enter(3, 'a')), first);
});

test('a burst from one address displaces the only connections of other addresses', () => {
  const table = new ConnectionTable<number>({ connectionsMax: 80, perAddressMax: 40 });
  const strangers = Array.from({ length: 80 }, (_, n) => table.enter(n, `stranger ${n}`));
  for (let n = 0; n < 8; n++) {
    const excess = table.findExcess(table.enter(100 + n, 'platform'));
    assert.equal(excess, strangers[n]);
    if (excess !== undefined) table.leave(excess);
  }
});

test('an address with an eighth of the limit loses its own connections first', () => {
  const table = new ConnectionTable<number>({ connectionsMax: 80, perAddressMax: 40 });
  for (let n = 0; n < 69; n++) table.enter(n, `platform ${n}`);
  const first = table.enter(69, 'stranger');
  for (let n = 0; n < 10; n++) table.enter(70 + n, 'stranger');
  assert.equal(table.findExcess(table.enter(99, 'platform')), first);
});

/** Finds the connection to close by examining all connections. */
function chosenBySearch(places: readonly Place<number>[], newcomer: Place<number>, limits: typeof LIMITS) {
  const there = places.filter(({ hasLeft }) => !hasLeft);
  const own = there.filter(({ address }) => address === newcomer.address);
  const isFull = there.length > limits.connectionsMax;
  const candidates = own.length > limits.perAddressMax ? own : isFull ? there : undefined;
  if (candidates === undefined) return undefined;
  for (const standing of ['silent', 'idle'] as const) {
    const resting = candidates.filter((place) => place !== newcomer && place.standing === standing);
    const count = ({ address }: Place<number>) =>
      there.filter((place) => place.address === address && place.standing === standing).length;
    if (resting.length > 0)
      return { standing, isGlobal: candidates === there, count: Math.max(...resting.map(count)), countOf: count };
  }
  return newcomer;
}

test('the table chooses the same connection as an exhaustive search', () => {
  const step = fc.record({
    address: fc.constantFrom('a', 'b', 'c', 'd'),
    action: fc.constantFrom<Standing | 'leave' | 'enter' | 'forget'>(
      'enter',
      'enter',
      'silent',
      'idle',
      'busy',
      'leave',
      'forget',
    ),
    pick: fc.nat(),
  });
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const limits = { connectionsMax: 8, perAddressMax: 5 };
    const table = new ConnectionTable<number>(limits);
    const places: Place<number>[] = [];
    for (const { address, action, pick } of steps) {
      const place = places[pick % Math.max(places.length, 1)];
      if (action === 'enter') {
        const newcomer = table.enter(places.length, address);
        places.push(newcomer);
        const expected = chosenBySearch(places, newcomer, limits);
        const found = table.findExcess(newcomer);
        if (expected === undefined || expected === newcomer) assert.equal(found, expected);
        else {
          assert.ok(found !== undefined && found !== newcomer && 'countOf' in expected);
          assert.equal(found.standing, expected.standing);
          if (expected.isGlobal) assert.equal(expected.countOf(found), expected.count);
          const older = places.find(
            (one) =>
              !one.hasLeft &&
              one.address === found.address &&
              one.standing === found.standing &&
              one.connection < found.connection,
          );
          if (places.every(({ standing }) => standing === 'silent')) assert.equal(older, undefined);
        }
        if (found !== undefined) table.leave(found);
      } else if (action === 'forget') table.forgetSilent(address);
      else if (place !== undefined && action === 'leave') table.leave(place);
      else if (place !== undefined && action !== 'leave') table.setStanding(place, action);
    }
    assert.equal(table.size, places.filter(({ hasLeft }) => !hasLeft).length);
  });
  fc.assert(property, { numRuns: 300 });
});
