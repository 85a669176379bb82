import type { Message } from '../../src/simulate/message.js';
import { type Answer, describeAnswer } from '../repeats/answer.js';
import { describeMessage } from '../repeats/describe-history.js';
import { FreshPlayers } from '../repeats/fresh-players.js';
import type { Deployment, Setting } from '../repeats/settings/setting.js';
import { Random } from '../simulation/random.js';
import { drawHistory } from './draw-history.js';
import { type Operator, PlayerClient } from './player-client.js';

const BALANCE = 200;
const SENDERS = 24;
const PAUSE = 0.15;
/** Pause between messages, long enough for rounds to leave memory and for a disturbance to occur. */
const PAUSE_MS = 60;

interface Started {
  readonly setting: Setting;
  readonly deployment: Deployment;
  readonly operator: Operator;
}

export interface Agreed {
  readonly histories: number;
  readonly disturbances: number;
}

/** Plays the same histories with every configuration. Throws if the answers differ from those in the first setting. */
export async function mustAgree(
  settings: readonly Setting[],
  firstSeed: number,
  goesOn: (histories: number) => boolean,
): Promise<Agreed> {
  const started: Started[] = [];
  let isOver = false;
  try {
    for (const setting of settings) started.push(await startedOf(setting));
    const disturbing = started.map(({ deployment }) => deployment.disturb?.(() => !isOver));
    let histories = 0;
    const send = async () => {
      while (!isOver && goesOn(histories)) await compare(started, firstSeed + histories++);
    };
    const comparing = Promise.all(Array.from({ length: SENDERS }, send)).finally(() => {
      isOver = true;
    });
    await Promise.all([comparing, ...disturbing]);
    const disturbances = started.reduce((sum, { deployment }) => sum + (deployment.disturbances ?? 0), 0);
    return { histories, disturbances };
  } finally {
    isOver = true;
    for (const { deployment } of started) await deployment.close();
  }
}

async function startedOf(setting: Setting): Promise<Started> {
  const deployment = await setting.start();
  const { wire } = deployment;
  return { setting, deployment, operator: { wire, players: new FreshPlayers(wire), pauseMs: PAUSE_MS } };
}

async function compare(started: readonly Started[], seed: number): Promise<void> {
  const random = new Random(seed);
  const history = drawHistory(random);
  const pauses = history.map(() => random.chance(PAUSE));
  const answers = await Promise.all(started.map(({ operator }) => play(operator, history, pauses)));
  const [first = []] = answers;
  for (const i of history.keys()) {
    for (const [n, { setting }] of started.entries()) {
      const [expected, got] = [first[i], answers[n]?.[i]].map((one) => one && describeAnswer(one));
      if (expected === got) continue;
      const reported = history.slice(0, i + 1).map((one, at) => `  ${describeMessage(one)}: ${reportedOf(first[at])}`);
      throw new Error(
        `seed ${seed}: ${setting.name} answers ${got}, ${started[0]?.setting.name} ${expected}\n${reported.join('\n')}`,
      );
    }
  }
}

async function play(operator: Operator, history: readonly Message[], pauses: readonly boolean[]): Promise<Answer[]> {
  const client = await PlayerClient.take(operator, BALANCE);
  const answers: Answer[] = [];
  for (const [i, message] of history.entries()) {
    if (pauses[i] === true) await client.pause();
    answers.push(await client.send(message));
  }
  return answers;
}

function reportedOf(answer: Answer | undefined): string {
  return answer === undefined ? 'no answer' : describeAnswer(answer);
}
