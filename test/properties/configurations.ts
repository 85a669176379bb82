import type { Message } from '../../src/tools/simulate/message.js';
import { type Answer, describeAnswer } from '../repeats/answer.js';
import { describeMessage } from '../repeats/describe-history.js';
import { FreshPlayers } from '../repeats/fresh-players.js';
import type { Place, Setting } from '../repeats/settings/setting.js';
import { Random } from '../simulation/random.js';
import { drawHistory } from './draw-history.js';
import { Seat, type Table } from './table.js';

const BALANCE = 200;
const LANES = 24;
const REST = 0.15;
/** Pauses give rounds the time to leave memory, and a trouble the time to come between two messages. */
const REST_MS = 60;

interface Started {
  readonly setting: Setting;
  readonly place: Place;
  readonly table: Table;
}

export interface Agreed {
  readonly histories: number;
  readonly troubles: number;
}

/** The same history at every setting: throws where its answers differ from those at the first. */
export async function mustAgree(
  settings: readonly Setting[],
  firstSeed: number,
  goesOn: (histories: number) => boolean,
): Promise<Agreed> {
  const started: Started[] = [];
  let isOver = false;
  try {
    for (const setting of settings) started.push(await startedOf(setting));
    const troubling = started.map(({ place }) => place.trouble?.(() => !isOver));
    let histories = 0;
    const lane = async () => {
      while (!isOver && goesOn(histories)) await compare(started, firstSeed + histories++);
    };
    const comparing = Promise.all(Array.from({ length: LANES }, lane)).finally(() => {
      isOver = true;
    });
    await Promise.all([comparing, ...troubling]);
    const troubles = started.reduce((sum, { place }) => sum + (place.troubles ?? 0), 0);
    return { histories, troubles };
  } finally {
    isOver = true;
    for (const { place } of started) await place.close();
  }
}

async function startedOf(setting: Setting): Promise<Started> {
  const place = await setting.start();
  const { wire } = place;
  return { setting, place, table: { wire, players: new FreshPlayers(wire), restMs: REST_MS } };
}

async function compare(started: readonly Started[], seed: number): Promise<void> {
  const random = new Random(seed);
  const history = drawHistory(random);
  const rests = history.map(() => random.chance(REST));
  const answers = await Promise.all(started.map(({ table }) => play(table, history, rests)));
  const [first = []] = answers;
  for (const i of history.keys()) {
    for (const [n, { setting }] of started.entries()) {
      const [expected, got] = [first[i], answers[n]?.[i]].map((one) => one && describeAnswer(one));
      if (expected === got) continue;
      const told = history.slice(0, i + 1).map((one, at) => `  ${describeMessage(one)}: ${toldOf(first[at])}`);
      throw new Error(
        `seed ${seed}: ${setting.name} answers ${got}, ${started[0]?.setting.name} ${expected}\n${told.join('\n')}`,
      );
    }
  }
}

async function play(table: Table, history: readonly Message[], rests: readonly boolean[]): Promise<Answer[]> {
  const seat = await Seat.take(table, BALANCE);
  const answers: Answer[] = [];
  for (const [i, message] of history.entries()) {
    if (rests[i] === true) await seat.rest();
    answers.push(await seat.send(message));
  }
  return answers;
}

function toldOf(answer: Answer | undefined): string {
  return answer === undefined ? 'no answer' : describeAnswer(answer);
}
