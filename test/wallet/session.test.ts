import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionDigest } from '../../src/callback/session-token.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { formatOf } from '../../src/store/format/event-codec.js';
import type { Command } from '../../src/wallet/command.js';
import { query } from '../../src/wallet/queries/query.js';
import { imagesOf } from '../support/audit.js';
import { commands, Domain, throughSnapshot } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

const { place, settle, tip } = commands;
const digest = sessionDigest('ann', 'token');

function domain(sessionToken: 'ignore' | 'check' = 'check'): Domain {
  const made = new Domain(rulesOf(settingsWith({ sessionToken })));
  made.fund('ann', 1000);
  return made;
}

function placed(id: string, session?: string): Command {
  return withToken(place([{ id, betAmount: 10 }]), session);
}

function withToken(command: Command, session: string | undefined): Command {
  return { ...command, session } as Command;
}

test('the token of the session admits bets until the session ends', () => {
  const { nowMs } = new Domain();
  const one = domain();
  assert.equal(one.statusCode(placed('a', digest)), 30001, 'there is no session');
  one.run({ type: 'set-session', username: 'ann', session: { digest, endMs: nowMs + 5 } });
  assert.equal(one.statusCode(placed('a', digest)), 0);
  for (const wrong of [undefined, '', digest.slice(1), `${digest}x`, sessionDigest('bob', 'token')]) {
    assert.equal(one.statusCode(placed('b', wrong)), 30001, `${wrong}`);
  }
  one.nowMs += 5;
  assert.equal(one.statusCode(placed('b', digest)), 30001, 'it is over');
  assert.equal(one.statusCode(placed('a')), 0, 'a repeat gets its first answer');
  assert.equal(one.statusCode(settle([{ id: 'a', payoutAmount: 20 }])), 0);
  assert.equal(one.wallet('ann').balance, 1010);
});

test('all elements of an array need the token, except in an array of repeats', () => {
  const one = domain();
  one.run({ type: 'set-session', username: 'ann', session: { digest, endMs: null } });
  const array = place([{ id: 'a' }, { id: 'b' }]);
  assert.equal(one.statusCode(array), 30001);
  assert.equal(one.statusCode(withToken(array, digest)), 0);
  assert.equal(one.statusCode(array), 0);
});

test('setting the same session again or ending a missing one causes no event', () => {
  const one = domain();
  const set = { type: 'set-session', username: 'ann', session: { digest, endMs: 5 } } as const;
  const end = { type: 'end-session', username: 'ann' } as const;
  assert.equal(one.run(end).event, undefined);
  assert.equal(one.run(set).event?.type, 'session-set');
  assert.equal(one.run(set).event, undefined);
  assert.equal(one.run({ ...set, session: { digest, endMs: 6 } }).event?.type, 'session-set');
  assert.equal(one.run(end).event?.type, 'session-ended');
  assert.equal(one.run(end).event, undefined);
  assert.equal(one.statusCode({ ...end, username: 'nobody' }), 10001);
});

test('no session event is written before every node can read it', () => {
  const one = domain();
  one.run({ type: 'set-session', username: 'ann', session: { digest, endMs: null } });
  one.run({ type: 'end-session', username: 'ann' });
  assert.deepEqual(one.events.map(formatOf), [1, 2, 2]);
});

test('log and snapshots preserve a session, with or without an end', () => {
  for (const endMs of [null, 0, Number.MAX_SAFE_INTEGER]) {
    for (const hasTotals of [false, true]) {
      const one = domain('ignore');
      if (hasTotals) one.run(tip([{ id: 'unknown', roundId: 'r' }]));
      one.run({ type: 'set-session', username: 'ann', session: { digest, endMs } });
      assert.deepEqual(one.wallet('ann').session, { digest, endMs });
      const packed = throughSnapshot(one.wallets);
      const asked = query(packed, { type: 'read-player', username: 'ann' });
      assert.deepEqual(asked.type === 'player' && asked.player?.session, { endMs });
      assert.equal(packed.packedCount, 1, 'a player is told without being unpacked');
      assert.deepEqual(imagesOf(packed), imagesOf(one.wallets));
      assert.deepEqual(imagesOf(one.replayed()), imagesOf(one.wallets));
    }
  }
});

test('a digest belongs to one player and one token', () => {
  assert.match(digest, /^[\w-]{22}$/);
  assert.equal(sessionDigest('ann', 'token'), digest);
  const others = [sessionDigest('ann', 'tokeN'), sessionDigest('bob', 'token'), sessionDigest('an', 'ntoken')];
  assert.equal(new Set([digest, ...others]).size, 4);
  for (const none of [undefined, null, '', 7, {}, 'x'.repeat(257), '\ud800'])
    assert.equal(sessionDigest('ann', none), '');
});
