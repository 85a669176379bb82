import { createSecretKey, randomBytes, randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { decodeText } from '../base/decode-text.js';
import { messageOf } from '../base/message-of.js';
import { ConfigError } from '../config/config-error.js';
import { sign } from '../http/signature.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { Stopped } from '../simulate/cannot-know.js';
import { type Case, OPENING_BALANCE } from '../simulate/case.js';
import { CASES_OF, countPlayers } from '../simulate/cases/all.js';
import { CHECK_CONCURRENCY, check } from '../simulate/check.js';
import { Client, type Header, type Sign } from '../simulate/client.js';
import { findingsOf, worstHeading } from '../simulate/findings/findings.js';
import type { Heading } from '../simulate/findings/heading.js';
import { Known, parseBaseline } from '../simulate/known.js';
import { learn } from '../simulate/learn.js';
import { Pace } from '../simulate/pace.js';
import type { Table } from '../simulate/play.js';
import { CommandPlayers, ListedPlayers, OperatorPlayers, type Players } from '../simulate/players.js';
import { DEFAULT_PROFILE, type Profile, parseProfile } from '../simulate/profile.js';
import { htmlOf } from '../simulate/report/html.js';
import { junitOf } from '../simulate/report/junit.js';
import { type Result, type Verdict, verdictOf } from '../simulate/result.js';
import { RULE_NAMES, type RuleName } from '../simulate/rules.js';
import { soak } from '../simulate/soak/soak.js';
import { mustPlaces, usernamesOf } from '../simulate/usernames.js';
import { argument, collected } from './argument.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { parseHeader } from './header-option.js';
import { Progress } from './print/progress.js';
import { exploredText, resultJson, simulationText, soakedText } from './print/simulation.js';
import { stopSignal } from './stop-signal.js';

const MODES = ['check', 'explore', 'soak'] as const;
type Mode = (typeof MODES)[number];

interface SimulateOptions extends OutputOptions {
  readonly mode: Mode;
  readonly seconds: number;
  readonly seed?: number;
  /** Number of concurrent histories. */
  readonly lanes?: number;
  /** Maximum number of messages per second. */
  readonly pace?: number;
  /** Messages per second. */
  readonly rate: number;
  /** The file to write the learnt profile to. */
  readonly learn?: string;
  readonly header: readonly Header[];
  readonly username?: string;
  readonly players?: string;
  readonly create?: string;
  readonly operator?: string;
  readonly operatorTokenFile?: string;
  readonly profile?: string;
  readonly keyFile?: string;
  readonly patience: number;
  readonly maxSeconds?: number;
  readonly baseline?: string;
  readonly only: readonly RuleName[];
  readonly ignore: readonly RuleName[];
  readonly junit?: string;
  readonly html?: string;
}

const SECONDS = 60;
const SECONDS_MAX = 30 * 86_400;
/** Number of concurrent histories, enough to keep an operator busy whose answers wait for a disk. */
const EXPLORE_CONCURRENCY = 256;
const CONCURRENCY_MAX = 1000;
const RATE = 100;
const RATE_MAX = 20_000;
const SEED_MAX = 2 ** 31 - 1;
const RETRY_SECONDS = 10;
const RETRY_SECONDS_MAX = 3600;
/** Platforms of this family time out after 4 to 5 seconds. */
const ANSWER_MS_MAX = 5000;
const MS = 1000;
/** After a signal, reports are written. This takes longer than other commands need to end. */
const STOP_MAX_MS = 10_000;

const EXIT_CODES: Readonly<Record<Exclude<Verdict, 'differs'>, number>> = {
  agrees: EXIT.ok,
  unknown: EXIT.cannotKnow,
  skipped: EXIT.cannotKnow,
  known: EXIT.ok,
};

/** Exit codes of a run whose worst finding has this heading. */
const EXIT_CODES_OF_FINDINGS: Readonly<Record<Heading, number>> = {
  crash: EXIT.failure,
  money: EXIT.failure,
  interface: EXIT.brokenInterface,
  decision: EXIT.decidedOtherwise,
};

export function addSimulate(program: Command): void {
  program
    .command('simulate')
    .description('play the platform against any operator of the interface, and check every answer')
    .argument('<url>', 'callback address of the operator, such as http://localhost:3000', argument(parseUrl))
    .addOption(
      new Option('--mode <mode>', 'check: named cases; explore: random histories; soak: rounds at a rate')
        .choices(MODES)
        .default('check'),
    )
    .option('--seconds <n>', 'duration of explore or soak', argument(whole(SECONDS_MAX)), SECONDS)
    .option('--seed <n>', 'seed of all random choices (default: a new one each time)', argument(whole(SEED_MAX)))
    .option(
      '--lanes <n>',
      `for check and explore: concurrent histories (default: ${CHECK_CONCURRENCY} and ${EXPLORE_CONCURRENCY})`,
      argument(whole(CONCURRENCY_MAX)),
    )
    .option('--pace <n>', 'for check and explore: at most so many messages per second', argument(whole(RATE_MAX)))
    .option('--rate <n>', 'for soak: messages per second', argument(whole(RATE_MAX)), RATE)
    .option('--header <name:value>', 'header of each request; may be given several times', collected(parseHeader), [])
    .option('--players <file>', `fresh players with a balance of ${OPENING_BALANCE}, one username per line`)
    .option('--create <command>', 'command that creates a player: {username}, {currency} and {balance} are replaced')
    .option(
      '--username <pattern>',
      'names of created players; digits and small letters replace the #',
      argument(parsePattern),
    )
    .option('--operator <url>', "walletd's operator API, which creates the players", argument(parseUrl))
    .option('--operator-token-file <file>', 'file with the token of the operator API')
    .option('--profile <file>', 'choices of this operator as JSON (default: those of walletd)')
    .option('--learn <file>', 'first learn most of the profile from answers, and write it to this file')
    .option('--key-file <file>', 'file with the secret that signs requests, alone or as ID:SECRET')
    .option('--patience <seconds>', 'how long to repeat an unanswered message', argument(parseSeconds), RETRY_SECONDS)
    .option('--max-seconds <n>', 'end the run after this time, and report what there is', argument(whole(SECONDS_MAX)))
    .option('--only <rule>', 'report this rule and those of other --only', collected(parseRule), [])
    .option('--ignore <rule>', 'do not report this rule; may be given several times', collected(parseRule), [])
    .option('--baseline <file>', 'former output of --json: do not fail because of what it has')
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--html <file>', 'also write the results as an HTML page')
    .option('--json', 'print a JSON object per case instead')
    .addHelpText(
      'after',
      helpText({
        notes: [
          `\
Each history has its own player with a balance of ${OPENING_BALANCE} and nothing else, and some have two; check needs ${countPlayers(CASES_OF.callbacks)} players. The players are not removed.
One of --players, --create and --operator provides them. See docs/simulate.md about profiles.`,
        ],
        exitCodes: `${EXIT.ok} all cases agree, ${EXIT.failure} money is wrong or a request ends the operator's process, ${EXIT.usage} wrong arguments,
${EXIT.cannotKnow} the outcome is unknown, ${EXIT.brokenInterface} the interface is broken, ${EXIT.decidedOtherwise} the operator decides otherwise than walletd does. The worst one counts.`,
        examples: [
          'walletd simulate http://localhost:3000 --operator http://localhost:3001',
          'walletd simulate http://localhost:3000 --operator http://localhost:3001 --mode explore --seconds 600',
          `walletd simulate https://wallet.example/cb --key-file key --create './add-player {username} {balance}' --html report.html`,
        ],
      }),
    )
    .action((url: string, options: SimulateOptions) => conclude(simulate(url, options), options));
}

const NOTHING_ACCEPTED =
  'no request was accepted: do the players exist, do currency and paths of the profile fit, and is a --header or --key-file missing?';

async function simulate(url: string, options: SimulateOptions): Promise<Outcome> {
  const given =
    options.profile === undefined ? DEFAULT_PROFILE : await read('--profile', options.profile, parseProfile);
  const known = await knownOf(options);
  const source = await playersOf(options, given, known);
  const key = options.keyFile === undefined ? undefined : await read('--key-file', options.keyFile, parseKey);
  const client = new Client(url, ANSWER_MS_MAX, key, options.header);
  const stop = stopAfter(options.maxSeconds);
  // Without connections, no history waits for an answer.
  stop.addEventListener('abort', () => client.close());
  const players = stoppable(source, stop);
  const progress = new Progress('Simulating', !options.json);
  try {
    const pace = options.pace === undefined || options.mode === 'soak' ? undefined : new Pace(options.pace);
    const asked = { client, profile: given, retryMs: options.patience * MS, startMs: Date.now(), pace, stop };
    const profile = options.learn === undefined ? given : await learnTo(options.learn, asked, players, progress);
    const outcome = await playMode({ ...asked, profile }, players, options, known, progress);
    if (client.answeredCount > 0 && client.acceptedCount === 0) progress.warn(NOTHING_ACCEPTED);
    return await printed(outcome, url, profile, options);
  } finally {
    progress.stop();
    client.close();
  }
}

/** Results of a check or an exploration, for the report. */
interface PlayedResults {
  readonly results: readonly Result[];
  /** Notes printed after the results. */
  readonly notes: readonly string[];
}

async function playMode(
  table: Table,
  players: Players,
  { mode, seconds, lanes, rate, seed = randomInt(1, SEED_MAX) }: SimulateOptions,
  known: Known,
  progress: Progress,
): Promise<PlayedResults> {
  switch (mode) {
    case 'check':
      return {
        results: known.mark(await check(table, players, casesOf(table.profile, known), progress.update, lanes)),
        notes: [],
      };
    case 'explore': {
      // Load the exploration only when it is needed, because fast-check takes a while to load.
      const { explore } = await import('../simulate/explore/explore.js');
      const explored = await explore(
        table,
        players,
        { seed, seconds, concurrency: lanes ?? EXPLORE_CONCURRENCY },
        progress.update,
        known,
      );
      return { results: explored.results, notes: [exploredText(explored, seed)] };
    }
    case 'soak': {
      const soaked = await soak(table, players, rate, seconds, progress.update, known);
      return { results: soaked.results, notes: [soakedText(soaked, rate)] };
    }
  }
}

/** Signal that ends the run on SIGINT and SIGTERM, and after `seconds`. Its reason is a sentence. */
function stopAfter(seconds: number | undefined): AbortSignal {
  const stop = new AbortController();
  const signal = stopSignal(() => Number(process.exitCode ?? EXIT.cannotKnow), STOP_MAX_MS);
  signal.addEventListener('abort', () => stop.abort('ended by a signal'));
  if (seconds !== undefined) {
    setTimeout(() => stop.abort(`ended after --max-seconds ${seconds}`), seconds * MS).unref();
  }
  return stop.signal;
}

/** The same players, except that the end of the run does not wait for a player to be created. */
function stoppable(players: Players, stop: AbortSignal): Players {
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(new Stopped(String(stop.reason))));
  });
  stopped.catch(() => {});
  return { take: () => Promise.race([players.take(), stopped]) };
}

async function learnTo(file: string, table: Table, players: Players, progress: Progress): Promise<Profile> {
  const { profile, unclear, silent } = await learn(table, players, progress.update);
  const chosen = Object.entries(profile).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(DEFAULT_PROFILE[name as keyof Profile]);
  });
  await writeFile(file, `${JSON.stringify(Object.fromEntries(chosen), undefined, 2)}\n`);
  for (const endpoint of silent) progress.warn(`${endpoint} gave no final answer: it counts as served`);
  for (const choice of unclear) progress.warn(`no value of "${choice}" explains the answers: it stays as it was`);
  return profile;
}

async function printed(
  { results, notes }: PlayedResults,
  url: string,
  profile: Profile,
  { junit, html }: SimulateOptions,
): Promise<Outcome> {
  const isWritten = await Promise.all([
    tryWrite('--junit', junit, () => junitOf(results, url, profile)),
    tryWrite('--html', html, () => htmlOf(results, url, profile)),
  ]);
  const exitCode = exitCodeOf(results, profile);
  return {
    text: () => [simulationText(results, url, profile), ...notes].join('\n\n'),
    json: () => results.map((result) => resultJson(result, url, profile)),
    exitCode: exitCode === EXIT.ok && isWritten.includes(false) ? EXIT.failure : exitCode,
  };
}

function exitCodeOf(results: readonly Result[], { decimals }: Profile): number {
  const verdict = verdictOf(results);
  if (verdict !== 'differs') return EXIT_CODES[verdict];
  const heading = worstHeading(findingsOf(results, decimals));
  return heading === undefined ? EXIT.failure : EXIT_CODES_OF_FINDINGS[heading];
}

/** Writes a report. A file that cannot be written does not keep the other reports from being written and printed. */
async function tryWrite(option: string, file: string | undefined, report: () => string): Promise<boolean> {
  if (file === undefined) return true;
  try {
    await writeFile(file, report());
    return true;
  } catch (error) {
    console.error(`walletd: ${option} ${file}: ${messageOf(error)}`);
    return false;
  }
}

async function knownOf({ only, ignore, baseline }: SimulateOptions): Promise<Known> {
  return new Known(only, ignore, baseline === undefined ? [] : await read('--baseline', baseline, parseBaseline));
}

function casesOf({ platform }: Profile, known: Known): readonly Case[] {
  const cases = CASES_OF[platform].filter(({ rule }) => known.plays(rule));
  if (cases.length === 0) throw new ConfigError('--only and --ignore leave no case');
  return cases;
}

async function playersOf(options: SimulateOptions, profile: Profile, known: Known): Promise<Players> {
  const { players, create, operator, operatorTokenFile } = options;
  const { currency } = profile;
  const given = [players, create, operator].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw new ConfigError('one of --players, --create and --operator must say where players come from');
  const nextName = namesOf(options.username);
  if (create !== undefined) return new CommandPlayers(create, currency, nextName);
  if (operator !== undefined) {
    const token = operatorTokenFile && (await read('--operator-token-file', operatorTokenFile, (text) => text.trim()));
    return new OperatorPlayers(operator, token, currency, nextName);
  }
  const listed = await read('--players', players as string, (text) => new ListedPlayers(text, currency));
  const needed = options.mode === 'check' ? countPlayers(casesOf(profile, known)) : 0;
  if (listed.count < needed) {
    throw new ConfigError(`--players ${players}: it has ${listed.count} players, and ${needed} are needed`);
  }
  return listed;
}

function namesOf(pattern: string | undefined): () => string {
  if (pattern !== undefined) return usernamesOf(pattern, Math.random());
  const prefix = `simulation-${randomBytes(4).toString('hex')}`;
  let made = 0;
  return () => `${prefix}-${++made}`;
}

async function read<T>(option: string, file: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(decodeText(await readFile(file)));
  } catch (error) {
    throw new ConfigError(`${option} ${file}: ${messageOf(error)}`);
  }
}

/** Reads the last line that is not a comment, so that walletd's key file works as well. */
function parseKey(text: string): Sign {
  const line = text.split(/\r?\n/).findLast((one) => one.trim() !== '' && !one.startsWith('#'));
  const secret = line?.trim().replace(/^[\w.-]{1,64}:/, '') ?? '';
  if (secret === '') throw new Error('there is no secret');
  const key = createSecretKey(secret, 'utf8');
  return (body, atMs) => {
    const timestamp = String(atMs);
    return { 'sapi-timestamp': timestamp, 'sapi-signature': sign(key, Buffer.from(body), timestamp) };
  };
}

function parsePattern(text: string): string {
  mustPlaces(text);
  return text;
}

function parseRule(text: string): RuleName {
  if (!RULE_NAMES.includes(text as RuleName)) throw new Error(`It can be ${RULE_NAMES.join(', ')}`);
  return text as RuleName;
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error('It must be a URL with http or https');
  return text.replace(/\/+$/, '');
}

function whole(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw new Error(`It must be a whole number from 1 to ${max}`);
    return value;
  };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text === '' || !(seconds >= 0 && seconds <= RETRY_SECONDS_MAX)) {
    throw new Error(`It must be a number from 0 to ${RETRY_SECONDS_MAX}`);
  }
  return seconds;
}
