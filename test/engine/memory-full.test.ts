import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '../support/domain.js';
import { TestHost } from '../support/test-host.js';

const { place, settle, placeTip, tip, reward, movement, rollback } = commands;
const FULL = { type: 'failed', failure: 'memory-full' };

test('near the memory limit no bets are opened, but open bets can be closed', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }, { id: 't2' }]));
  test.memory.isFull = true;
  assert.equal((await test.execute(commands.checkBalance())).type, 'accepted', 'a balance is told');
  assert.deepEqual(await test.execute(place([{ id: 't3' }])), FULL);
  assert.deepEqual(await test.execute(settle([{ id: 't4', isSingleState: true }])), FULL);
  assert.deepEqual(await test.execute({ type: 'create-player', username: 'bob', currency: 'THB' }), FULL);
  assert.equal((await test.execute(place([{ id: 't1' }]))).type, 'accepted', 'a repeat opens nothing');
  assert.equal((await test.execute(settle([{ id: 't1' }]))).type, 'accepted');
  assert.equal((await test.execute(commands.cancel([{ id: 't2' }]))).type, 'accepted');
  assert.equal((await test.execute(commands.void([{ id: 't1' }]))).type, 'accepted');
  assert.equal((await test.execute({ type: 'deposit', id: 'd', username: 'ann', amount: 1 })).type, 'accepted');
  test.memory.isFull = false;
  assert.equal((await test.execute(place([{ id: 't3' }]))).type, 'accepted');
});

test('near the memory limit, tips and debits are refused but credits and repeats accepted', async () => {
  const test = await TestHost.started();
  const accepted = async (command: Parameters<typeof test.execute>[0]) => {
    const answer = await test.execute(command);
    assert.equal(answer.type, 'accepted', JSON.stringify(command));
    return answer;
  };
  const debit = movement([{ id: 'purse', status: 'DEBIT', amount: 20 }]);
  const result = settle([{ id: 'b' }], { id: 'result' });
  await test.fund('ann', 100);
  for (const command of [placeTip([{ id: 't' }]), debit, place([{ id: 'b' }]), result]) await accepted(command);
  test.memory.isFull = true;

  assert.deepEqual(await test.execute(placeTip([{ id: 'new' }])), FULL);
  assert.deepEqual(await test.execute(movement([{ id: 'new', status: 'DEBIT' }])), FULL);
  const both = [
    { id: 'new', status: 'CREDIT' as const },
    { id: 'new', status: 'DEBIT' as const },
  ];
  assert.deepEqual(await test.execute(movement(both)), FULL, 'an array is refused as a whole');

  await accepted(placeTip([{ id: 't' }]));
  await accepted(debit);
  await accepted(tip([{ id: 't' }]));
  await accepted(reward([{ id: 'r', payoutAmount: 7 }]));
  await accepted(commands.void([{ id: 'r' }]));
  await accepted(movement([{ id: 'purse', status: 'CREDIT', amount: 25 }]));
  await accepted(rollback([{ id: 'b' }], { id: 'back' }));
  await accepted(rollback([{ id: 'b' }], { id: 'back again' }));
  await accepted(rollback([{ id: 't' }], { id: 'tip back' }));
  await accepted(settle([{ id: 'b', payoutAmount: 30 }], { id: 'next result' }));
  const balance = 100 - 10 - 20 - 10 + 10 + 25 - 10 + 30;
  const reported = { type: 'accepted', before: balance, after: balance, isRepeat: false };
  assert.deepEqual(await test.execute(commands.checkBalance()), reported, 'what was refused has moved nothing');
});
