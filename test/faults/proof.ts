import assert from 'node:assert/strict';
import { balanceOf, type CallbackAnswer } from '../support/client.js';
import { type Booked, Books } from './books.js';
import { describe, type Load, OPENING_BALANCE, PLAYERS, type Sent, type Target } from './load.js';
import type { StoredLog } from './raw-store.js';

/** Number of idle players whose balances are checked. */
const OTHERS = 100;
const DUPLICATE = 20_002;

/**
 * Verifies a store after a fault, when all loads have stopped and `target` serves from the store behind `log`. Each
 * answered callback must be in the log exactly once, written by the process that answered it; the others at most once.
 * Every repeat gets the first answer, except after a rollback. Balances must match the log. Resolves to a description.
 */
export async function prove(loads: readonly Load[], target: Target, log: StoredLog): Promise<string> {
  const sent = loads.flatMap((load) => load.sent);
  const books = await Books.read(log);
  for (const one of sent) checkFirst(one, books);
  const unknown = sent.filter((one) => one.answer === undefined);
  const written = unknown.filter((one) => books.callbacks.has(one.body.id)).length;

  for (const load of loads) await load.repeatAll(target);
  const finalBooks = await Books.read(log);
  for (const one of sent) checkRepeat(one, finalBooks);
  assert.equal(finalBooks.callbacks.size, sent.length, 'the log has nothing that was not sent');
  await checkBalances(sent, finalBooks, target);
  const of = `${written} of ${unknown.length} unknown ones were in the log`;
  return `${describe(loads)}; ${sent.length} repeats, ${of}, ${finalBooks.entries} entries`;
}

function checkFirst(one: Sent, books: Books): void {
  const booked = books.callbacks.get(one.body.id) ?? [];
  assert.ok(booked.length <= 1, `${one.body.id} is in the log ${booked.length} times`);
  if (one.answer === undefined) return;
  const [only] = booked;
  assert.ok(only !== undefined, `${one.body.id} was answered and is not in the log`);
  // Do not check the process in a cluster, whose nodes answer for each other's writes.
  if (one.pid !== 0)
    assert.equal(only.pid, one.pid, `${one.body.id} was answered by the owner that wrote it, not by a fenced one`);
  checkAnswer(one, one.answer, only);
}

function checkRepeat(one: Sent, books: Books): void {
  const booked = books.callbacks.get(one.body.id) ?? [];
  assert.equal(booked.length, 1, `${one.body.id} is in the log once after its repeat`);
  const { repeat, undoneBy } = one;
  if (undoneBy !== undefined && repeat?.statusCode === DUPLICATE) {
    assert.ok(books.callbacks.has(undoneBy), `${one.body.id} was undone before it is refused`);
  } else {
    checkAnswer(one, repeat as CallbackAnswer, booked[0] as Booked);
  }
}

function checkAnswer({ body, username, moves }: Sent, answer: CallbackAnswer, booked: Booked): void {
  const { statusCode, balanceBefore, balanceAfter } = answer;
  assert.deepEqual(
    { statusCode, username, balanceBefore, balanceAfter },
    { statusCode: 0, username: booked.username, balanceBefore: booked.before, balanceAfter: booked.after },
    `${body.id} was answered as the log has it`,
  );
  assert.equal(booked.after - booked.before, moves, `${body.id} moves its amount`);
}

async function checkBalances(sent: readonly Sent[], books: Books, target: Target): Promise<void> {
  for (const username of PLAYERS) {
    const moved = sent.filter((one) => one.username === username).reduce((sum, one) => sum + one.moves, 0);
    assert.equal(books.balances.get(username), OPENING_BALANCE + moved, `the log's balance of ${username}`);
    assert.equal(await balanceOf(target.adminUrl, username), OPENING_BALANCE + moved, `the balance of ${username}`);
  }
  const others = [...books.balances].filter(([username]) => !PLAYERS.includes(username));
  for (let i = 0; i < others.length; i += Math.ceil(others.length / OTHERS)) {
    const [username, balance] = others[i] as [string, number];
    assert.equal(await balanceOf(target.adminUrl, username), balance, `the balance of ${username}, who did not play`);
  }
}
