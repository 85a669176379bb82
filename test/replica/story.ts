import type { ShardState } from '../../src/engine/shard.js';
import { tryLsn } from '../../src/ports/lsn.js';
import type { Effect } from '../../src/replica/effect.js';
import { explain } from '../../src/replica/explain.js';
import type { Facts, Holder, Role } from '../../src/replica/facts.js';
import type { Input } from '../../src/replica/input.js';
import { newReplica, type Replica } from '../../src/replica/replica.js';
import { soloTick } from '../../src/replica/solo-replicas.js';
import { transition } from '../../src/replica/transition.js';
import type { MoveResult } from '../../src/threads/shards.js';
import { effectText, headFrom, nameOf, quietFacts, SHARD, tagNamed } from './sample.js';

const TICK_MS = 50;
const PAUSE = '----';

type Words = readonly string[];

/** Reads facts as the stories write them, such as `role=owner` or `log=b:1-5`. */
const FACTS: Readonly<Record<string, (facts: Facts, value: string) => Partial<Facts>>> = {
  role: (_, role) => ({ role: role as Role }),
  planned: (_, value) => ({ isPlanned: value === 'yes' }),
  thread: (facts, state) => ({ local: { ...facts.local, state: state as ShardState } }),
  here: (facts, head) => ({ local: { ...facts.local, head: head === 'none' ? undefined : headFrom(head) } }),
  reason: (facts, words) => ({ local: { ...facts.local, reason: words.replaceAll('_', ' ') } }),
  pending: (facts, ms) => ({ local: { ...facts.local, pendingAppendMs: Number(ms) } }),
  filter: (facts, value) => ({ local: { ...facts.local, lacksNames: value === 'missing' } }),
  holder: (_, holder) => ({ holder: holder as Holder }),
  log: (_, head) => ({ head: head === 'silent' ? undefined : headFrom(head) }),
  idle: (_, value) => ({ isLogIdle: value === 'yes' }),
  acknowledged: (_, lsn) => ({ acknowledged: { lsn: tryLsn(lsn) ?? { epoch: 0, sequence: 0 }, checksum: undefined } }),
  recorded: (_, value) => {
    const [name = '', epoch] = value.split(':');
    return { recorded: { tag: name === 'nobody' ? '' : tagNamed(name), epoch: Number(epoch) } };
  },
  newOwner: (_, name) => ({
    newOwner:
      name === 'none' ? undefined : { tag: tagNamed(name), isLinked: true, isGone: false, clockAheadMs: 10_000 },
  }),
  link: ({ newOwner }, value) => ({ newOwner: newOwner && { ...newOwner, isLinked: value === 'up' } }),
  otherTaker: (_, value) => ({ hasOtherTaker: value === 'yes' }),
  unserved: (_, value) => ({ isUnserved: value === 'yes' }),
  suspect: (_, value) => ({ isOwnerSuspect: value === 'yes' }),
  loadsOwn: (_, value) => ({ loadsOwn: value === 'yes' }),
  clock: (_, value) => ({ isClockSane: value === 'right' }),
  handovers: (_, value) => ({ mayHandOver: value === 'free' }),
};

/** The replica of one story. Effects are only recorded; the next lines of the story state their results. */
class Stage {
  private replica: Replica = newReplica(SHARD, 0);
  private facts: Facts = quietFacts();
  private lines: string[] = [];
  /** True if the node has no cluster. */
  private isAlone = false;

  /** Plays the commands of one block, and returns what the replica does. */
  play(commands: Words): string {
    this.lines = [];
    for (const command of commands) this.playOne(command);
    const { sentence } = explain(this.replica, this.facts.nowMs, 0, nameOf);
    return [...collapsed(this.lines), `=> ${sentence}`].join('\n');
  }

  private playOne(command: string): void {
    const [action = '', ...words] = command.split(/\s+/);
    switch (action) {
      case 'facts':
        for (const word of words) this.set(word);
        return;
      case 'alone':
        this.isAlone = true;
        return;
      case 'wait':
        this.wait(Number(words[0]));
        return;
      case 'result':
        this.run({ type: 'result', of: this.replica.command ?? 'follow', result: resultFrom(words) });
        // The runner ticks after each result.
        this.run({ type: 'tick' });
        return;
      default:
        this.run(inputFrom(action, words));
    }
  }

  private set(word: string): void {
    const [key = '', value = ''] = word.split('=');
    const read = FACTS[key];
    if (read === undefined) throw new Error(`the story has an unknown fact: ${word}`);
    this.facts = { ...this.facts, ...read(this.facts, value) };
  }

  private wait(ms: number): void {
    const endMs = this.facts.nowMs + ms;
    while (this.facts.nowMs < endMs) {
      this.facts = { ...this.facts, nowMs: Math.min(this.facts.nowMs + TICK_MS, endMs) };
      this.run({ type: 'tick' });
    }
  }

  private run(input: Input): void {
    if (this.isAlone) {
      this.replica = soloTick(this.replica, this.facts.local, this.facts.nowMs);
      return;
    }
    const [replica, effects] = transition(this.replica, input, this.facts);
    this.replica = replica;
    this.lines.push(...effects.map((effect: Effect) => effectText(effect)));
  }
}

/** Plays a story, and returns it with the replica's real actions in place of the expected ones. */
export function retold(story: string): string {
  const stage = new Stage();
  const blocks = story.trimEnd().split(/\n\n+/);
  const played = blocks.map((block) => {
    const [before = '', after] = block.split(`\n${PAUSE}`);
    if (after === undefined) return block;
    const commands = before.split('\n').filter((line) => !line.startsWith('#'));
    return `${before}\n${PAUSE}\n${stage.play(commands)}`;
  });
  return `${played.join('\n\n')}\n`;
}

/** Writes each line once, with the number of its repetitions. */
function collapsed(lines: Words): string[] {
  return [...new Set(lines)].map((line) => {
    const times = lines.filter((other) => other === line).length;
    return times === 1 ? line : `${line} (${times} times)`;
  });
}

function inputFrom(type: string, words: Words): Input {
  const named = new Map(words.map((word) => word.split('=') as [string, string]));
  const must = (name: string) => {
    const value = named.get(name);
    if (value === undefined) throw new Error(`${type} needs ${name}=`);
    return value;
  };
  switch (type) {
    case 'tick':
    case 'fenced':
    case 'recorded':
    case 'confirm':
    case 'not-sent':
    case 'end':
      return { type };
    case 'wanted':
      return { type, by: tagNamed(must('by')), sequence: Number(must('sequence')) };
    case 'offered':
      return { type, head: headFrom(must('head')), untilMs: Number(must('until')) };
    case 'owned':
      return { type, by: tagNamed(must('by')), epoch: Number(must('epoch')) };
    default:
      throw new Error(`the story has an unknown command: ${type}`);
  }
}

function resultFrom([type, ...words]: Words): MoveResult {
  switch (type) {
    case 'done':
      return { type };
    case 'still':
    case 'taken':
    case 'short':
    case 'conflict':
      return { type, head: headFrom(words[0] ?? '') };
    case 'failed':
      return { type, isPermanent: false, reason: words.join(' ') };
    case 'failed-permanently':
      return { type: 'failed', isPermanent: true, reason: words.join(' ') };
    default:
      throw new Error(`the story has an unknown result: ${type}`);
  }
}
