import { must } from '../../src/base/assert.js';
import { entryText, inspectionLines, inspectionText, orphansText } from '../../src/cli/print/inspection.js';
import { listSnapshots } from '../../src/log/snapshot-reader.js';
import { tryLsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import { exportEvents } from '../../src/tools/export/export.js';
import { startOf } from '../../src/tools/export/export-start.js';
import { inspect } from '../../src/tools/inspect/inspect.js';
import { inspectEntry, inspectOrphans } from '../../src/tools/inspect/inspect-entry.js';
import type { InspectQuery } from '../../src/tools/inspect/inspect-query.js';
import { shardsOf } from '../../src/tools/store-reader.js';
import { unitsPerWhole } from '../../src/wallet/amount.js';
import type { Command } from '../../src/wallet/command.js';
import type { Operator } from '../../src/wallet/state/operation.js';
import { commands } from '../support/domain.js';
import { WrittenStore } from './written-store.js';

const DAY_MS = 86_400_000;

/** Executes the steps of a transcript: writes a history and inspects it. */
export class StoryInterpreter {
  private readonly store = new WrittenStore(2);
  private requests = 0;
  /** The name of the operator in the steps that follow. */
  private by: Operator | undefined = undefined;

  async run(line: string): Promise<string> {
    const [action = '', ...words] = line.split(' ');
    const { store } = this;
    switch (action) {
      case 'take-over':
        await store.takeOver();
        return '';
      case 'fund':
        await store.fund(word(words, 0), this.units(words, 1, words[2] ?? 'THB'), words[2]);
        return '';
      case 'days':
        store.nowMs += Number(words[0]) * DAY_MS;
        return '';
      case 'snapshot':
        for (const shard of store.wallets.keys()) await store.snapshot(shard);
        return '';
      case 'trim':
        for (const shard of store.wallets.keys()) await this.trim(shard);
        return '';
      case 'as':
        this.by = { name: word(words, 0), address: word(words, 1) };
        return '';
      case 'operators':
        return await this.inspect(operatorsSince(words));
      case 'json-operators':
        return await this.inspectJson(operatorsSince(words));
      case 'player':
        return await this.inspect({ type: 'player', username: word(words, 0) });
      case 'round': {
        const [productId = '', roundId = '', username] = words;
        return await this.inspect({ type: 'round', productId, roundId, username });
      }
      case 'txn':
        return await this.inspect({ type: 'transaction', id: word(words, 0), username: words[1] });
      case 'json-txn':
        return await this.inspectJson({ type: 'transaction', id: word(words, 0), username: words[1] });
      case 'entry':
        return await this.entry(word(words, 0));
      case 'orphans':
        return await this.orphans(words);
      case 'export':
        return await this.export(words);
      default:
        await store.run(this.command(action, words));
        return '';
    }
  }

  private command(action: string, words: readonly string[]): Command {
    const username = word(words, 0);
    const { by } = this;
    if (action === 'create') return { type: 'create-player', username, currency: 'THB', by };
    if (action === 'block' || action === 'unblock') return { type: `${action}-player`, username, by };
    if (action === 'session') return { type: 'set-session', username, session: { digest: 'digest', endMs: null }, by };
    if (action === 'end-session') return { type: action, username, by };
    if (action === 'forget') return { type: action, username, beforeMs: this.store.nowMs };
    const id = word(words, 1);
    const { currency = 'THB' } = this.store.wallets[this.store.shardOf(username)]?.get(username) ?? {};
    const units = (list: readonly string[], at: number) => this.units(list, at, currency);
    if (action === 'deposit' || action === 'withdraw')
      return { type: action, id, username, amount: units(words, 2), by };
    if (action === 'correct') {
      const reason = words.slice(3).join(' ');
      return { type: action, id, username, amount: units(words, 2), reason, allowNegativeBalance: true, by };
    }
    const roundId = word(words, 2);
    const amount = units(words, 3);
    const over = { username, id: `req-${++this.requests}` };
    const txn = { id, roundId };
    const has = (flag: string) => words.includes(flag);
    switch (action) {
      case 'place':
        return commands.place(
          [{ ...txn, betAmount: amount, status: has('waiting') ? 'WAITING' : 'OPEN', skipBalanceUpdate: has('skip') }],
          over,
        );
      case 'settle':
        return commands.settle(
          [{ ...txn, payoutAmount: amount, byRound: has('by-round'), isEndRound: has('end') }],
          over,
        );
      case 'single':
        return commands.settle(
          [{ ...txn, betAmount: amount, payoutAmount: units(words, 4), isSingleState: true }],
          over,
        );
      case 'adjust':
        return commands.adjust([{ ...txn, betAmount: amount }], over);
      case 'void':
        return commands.void(
          [{ ...txn, betAmount: amount, payoutAmount: units(words, 4), byRound: has('by-round') }],
          over,
        );
      case 'cancel':
        return commands.cancel([{ ...txn, betAmount: amount, byRound: has('by-round') }], over);
      case 'rollback':
        return commands.rollback(
          [{ ...txn, payoutAmount: amount, byRound: has('by-round'), skipBalanceUpdate: has('skip') }],
          over,
        );
      case 'tip':
        return commands.tip([{ ...txn, betAmount: amount }], over);
      case 'place-tip':
        return commands.placeTip([{ ...txn, betAmount: amount, skipBalanceUpdate: has('skip') }], over);
      case 'reward':
        return commands.reward([{ ...txn, payoutAmount: amount }], over);
      case 'debit':
        return commands.movement([{ ...txn, roundId: txn.id, status: 'DEBIT', amount }], over);
      case 'credit':
        return commands.movement([{ ...txn, roundId: txn.id, status: 'CREDIT', amount }], over);
      default:
        throw new Error(`a transcript cannot say "${action}"`);
    }
  }

  private units(words: readonly string[], at: number, currency: string): number {
    return Math.round(Number(word(words, at)) * unitsPerWhole(this.store.scales.of(currency)));
  }

  /** Trims as far as the oldest snapshot permits. */
  private async trim(shard: number): Promise<void> {
    const { whole } = await listSnapshots(shard, this.store.reader);
    const { lsn } = must(whole.at(-1), 'there is a snapshot').start;
    await this.store.trim({ epoch: lsn.epoch, sequence: lsn.sequence + 1 }, shard);
  }

  private async inspect(query: InspectQuery): Promise<string> {
    const found = await this.search(query);
    if (found.items.length === 0 && found.players.length === 0) return 'nothing';
    return withoutBlanks(inspectionText(found, query, this.store.scales));
  }

  private async inspectJson(query: InspectQuery): Promise<string> {
    const found = await this.search(query);
    return [...inspectionLines(found, query, this.store.scales)].map((line) => JSON.stringify(line)).join('\n');
  }

  private async search(query: InspectQuery) {
    const { reader } = this.store;
    const { username } = query;
    const shards = username === undefined ? shardsOf(reader) : [this.store.shardOf(username)];
    return await inspect(reader, shards, query);
  }

  private async entry(place: string): Promise<string> {
    const [shard, lsn] = place.split(':') as [string, string];
    const found = await inspectEntry(this.store.reader, Number(shard), tryLsn(lsn) ?? { epoch: 0, sequence: 0 });
    return found === undefined ? 'nothing' : withoutBlanks(entryText(found, this.store.scales));
  }

  /** Handles `export`, and `export 0:1-5 1:1-7`, which exports after these entries. */
  private async export(words: readonly string[]): Promise<string> {
    const { reader } = this.store;
    const places = new Map(words.map((one) => one.split(':') as [string, string]));
    const starts: Head[] = [];
    for (const shard of shardsOf(reader)) {
      const lsn = tryLsn(places.get(String(shard)) ?? '');
      const { head, missing } = await startOf(shard, lsn && { lsn, checksum: undefined }, reader);
      if (missing !== undefined) return missing;
      starts.push(head);
    }
    let text = '';
    const options = { starts, following: undefined, signal: new AbortController().signal };
    for await (const batch of exportEvents(reader, options)) text += batch.text;
    return text.trimEnd();
  }

  /** Writes an orphans file with these entries, of which the log has lost the last one. */
  private async orphans(words: readonly string[]): Promise<string> {
    const shard = Number(words[0]);
    const { wal, reader, scales } = this.store;
    const tail = (await wal.read(shard, { epoch: 0, sequence: 0 }, 1000)).slice(-2);
    wal.loseTail(shard, 1);
    const file = tail.flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    });
    return withoutBlanks(orphansText(await inspectOrphans(reader, Buffer.concat(file)), scales));
  }
}

/** Replaces each blank line with a point, because a blank line ends the output of a step. */
function withoutBlanks(text: string): string {
  return text.replace(/^$/gm, '.');
}

function operatorsSince(words: readonly string[]): InspectQuery {
  return { type: 'operators', sinceMs: Date.parse(words[0] ?? '1970-01-01'), username: undefined };
}

function word(words: readonly string[], at: number): string {
  const found = words[at];
  if (found === undefined) throw new Error(`word ${at + 1} is missing in: ${words.join(' ')}`);
  return found;
}
