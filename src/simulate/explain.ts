import { quoted } from '../base/quoted.js';
import type { StatedResult } from './judge.js';
import type { Element, Endpoint, Signature } from './message.js';
import type { Deviation, Sent } from './play.js';
import { codeName, type RuleName } from './rules.js';

/** Shell variables for the players in messages to send again, so that new players can be substituted. */
const VARIABLES = ['PLAYER', 'OTHER'];
const AT_ONCE = ' &';
/** Further arguments of the shell function that signs: the age of the signature in seconds, and text that it adds. */
const SIGNING: Readonly<Record<Exclude<Signature, 'missing' | 'right'>, string>> = { old: ' 86400', wrong: ' 0 x' };

/** Number of characters of an answer beside its command. */
const ANSWER_MAX = 200;

/** Lists the messages with their answers, one message per line, followed by the expected answers. */
export function historyLines(deviation: Deviation, decimals: number): string[] {
  const { history, expected, balances } = deviation;
  const isAtOnce = history.at(-1)?.how === 'at-once';
  const names = namesOf(deviation);
  const lines = folded(history).map((sent) => {
    const isOfOther = names.indexOf(usernameOf(sent)) > 0;
    return `${headOf(sent, isOfOther)} ${shortBody(sent.body, names)}\n  ${withoutNames(answerOf(sent), names)}`;
  });
  return [
    ...lines,
    `  ${isAtOnce ? headOfOrder(balances) : 'expected'}: ${expected.map((stated) => describe(stated, decimals)).join(isAtOnce ? ', then ' : ', or ')}`,
  ];
}

function headOfOrder({ after }: Deviation['balances']): string {
  return after.length > 0
    ? 'the codes are right, and no order of the concurrent messages explains the balances; expected in the order above'
    : 'no order of the concurrent messages explains the answers; expected in the order above';
}

/** Formats a shell script that sends the history again for a new player. */
export function curlLines(deviation: Deviation, url: string): string[] {
  const { history, player, other, signs, headerNames = [] } = deviation;
  const { balance, currency } = player;
  const names = namesOf(deviation);
  const before = [
    other === undefined
      ? `# needs a player with ${balance} ${currency}, whom nobody has played with`
      : `# needs two players with ${balance} ${currency} each, with whom nobody has played`,
    ...names.map((name, n) => `${VARIABLES[n]}=${quoted(name)}`),
    `URL=${quoted(url)}`,
    ...headerNames.map((name) => `# ${variableOf(name)} is the value of the header ${name}`),
    ...(signs ? signing(headerNames) : []),
  ];
  return [...before, ...folded(history).map((sent) => curlLine(sent, names, signs, headerNames))];
}

/** Usernames of the players of a history, in the order of their first messages. */
function namesOf({ history, player, other }: Deviation): readonly string[] {
  if (other === undefined) return [player.username];
  const isFirst = history[0] === undefined || usernameOf(history[0]) === player.username;
  return isFirst ? [player.username, other.username] : [other.username, player.username];
}

function usernameOf({ body }: Sent): string {
  return (JSON.parse(body) as { readonly username: string }).username;
}

/** Replaces each name. A name may begin with another one, so the longest is replaced first. */
function replaceNames(text: string, names: readonly string[], replacementOf: (n: number) => string): string {
  const order = [...names.keys()].sort((n, m) => (names[m] as string).length - (names[n] as string).length);
  return order.reduce((left, n) => left.replaceAll(names[n] as string, () => replacementOf(n)), text);
}

/** The text without the names at the beginning of ids. */
function withoutNames(text: string, names: readonly string[]): string {
  const prefixes = names.map((name) => `${name}-`);
  return replaceNames(text, prefixes, () => '');
}

/** A message, and how often it was sent until it was answered. */
type Folded = Sent & { readonly times: number };

/** The history with one entry for a message that was sent again because it had got no final answer. */
function folded(history: readonly Sent[]): Folded[] {
  const lines: Folded[] = [];
  for (const sent of history) {
    const last = lines.at(-1);
    const isRetry =
      last?.how === 'plain' && last.stated === undefined && last.body === sent.body && sent.how === 'plain';
    if (isRetry) lines[lines.length - 1] = { ...sent, times: last.times + 1 };
    else lines.push({ ...sent, times: 1 });
  }
  return lines;
}

function signing(headerNames: readonly string[]): string[] {
  return [
    '# KEY is the secret of the signature, which is the HMAC of the body, a full stop and the time',
    'send() { now=$(($(date +%s) - $3 + 0))000; signature=$(printf "%s.%s" "$2$4" "$now" | openssl dgst -sha256 -hmac "$KEY" | sed "s/.*= //")',
    `  curl -s "$URL$1" -H "Content-Type: application/json"${headersOf(headerNames)} -H "sapi-timestamp: $now" -H "sapi-signature: $signature" -d "$2"; echo; }`,
  ];
}

/** Arguments of curl for headers. Their values may be secrets, so the shell inserts them. */
function headersOf(names: readonly string[]): string {
  return names.map((name) => ` -H "${name.replaceAll(/[`$]/g, '\\$&')}: $${variableOf(name)}"`).join('');
}

/** Shell variable for the value of a header. */
function variableOf(name: string): string {
  return `HEADER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

function curlLine(
  { path, body, how, signature, reply, times }: Folded,
  names: readonly string[],
  signs: boolean,
  headerNames: readonly string[],
): string {
  // The shell inserts the players, so that the history can be played with new ones.
  const text = replaceNames(`'${body.replaceAll("'", "'\\''")}'`, names, (n) => `'"$${VARIABLES[n]}"'`);
  // Replace line breaks in the answer, because a line break would end the comment and the shell would execute the next
  // line.
  const answer = reply?.text.slice(0, ANSWER_MAX).replaceAll(/[\s\p{Cc}]+/gu, ' ') ?? '';
  const sent = times === 1 ? '' : `sent ${times} times, and answered at last: `;
  const comment = how === 'cut' ? '  # its answer was not waited for' : `  # ${sent}${answer}`;
  const end = `${how === 'at-once' ? AT_ONCE : ''}${comment.replaceAll(/\s+$/g, '')}`;
  if (signs && signature !== 'missing') {
    const how = signature === undefined || signature === 'right' ? '' : SIGNING[signature];
    return `send ${quoted(path)} ${text}${how}${end}`;
  }
  return `curl -s "$URL"${quoted(path)} -H 'Content-Type: application/json'${headersOf(headerNames)} -d ${text}${end}`;
}

function headOf({ path, how, signature, times }: Folded, isOfOther: boolean): string {
  const notes = [
    ...(isOfOther ? ['second player'] : []),
    ...(how === 'plain' ? [] : [how]),
    ...(signature === undefined ? [] : [`signature ${signature}`]),
    ...(times === 1 ? [] : [`sent ${times} times`]),
  ];
  return `${path}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

/** The body without the fields that never change. */
function shortBody(body: string, names: readonly string[]): string {
  const { id, txns, currency } = JSON.parse(withoutNames(body, names)) as Record<string, unknown>;
  const short = ((txns ?? []) as Record<string, unknown>[]).map(({ gameCode, playInfo, ...txn }) => txn);
  return JSON.stringify({ id, currency, ...(txns !== undefined && { txns: short }) });
}

function answerOf({ reply }: Sent): string {
  if (reply === undefined) return '-> nobody waited for the answer';
  if (reply.status === undefined) return `-> no answer: ${reply.why}`;
  return `-> HTTP ${reply.status} ${reply.text.slice(0, 300)}`;
}

function describe({ code, before, after }: StatedResult, decimals: number): string {
  if (before === undefined || after === undefined) return codeName(code);
  const amount = (units: number) => String(units / 10 ** decimals);
  return before === after
    ? `${codeName(0)}, ${amount(before)}`
    : `${codeName(0)}, ${amount(before)} -> ${amount(after)}`;
}

const BY_ENDPOINT: Readonly<Record<Endpoint, RuleName>> = {
  checkBalance: 'balance',
  placeBets: 'stake',
  settleBets: 'payout',
  adjustBets: 'adjust',
  voidSettled: 'void',
  cancelBets: 'cancel',
  cancelTips: 'tips',
  placeTips: 'tips',
  winRewards: 'rewards',
  adjustBalance: 'movements',
  rollback: 'rollback',
};

/** The rule that a history most likely violates, judged by its last message. */
export function ruleOf({ history, unreadable }: Deviation): RuleName {
  const last = history.at(-1);
  if (last === undefined || unreadable !== undefined) return 'shape';
  const former = history.slice(0, -1).filter(({ body }) => body === last.body);
  if (last.how === 'at-once') return 'atOnce';
  if (former.some(({ how }) => how === 'cut')) return 'cut';
  if (former.length > 0 && last.endpoint !== 'checkBalance') {
    return history.at(-2)?.body === last.body ? 'repeats' : 'oldMessages';
  }
  return findRuleOfElements(last) ?? BY_ENDPOINT[last.endpoint];
}

/**
 * Finds the rule from the fields of the elements. A shrunk history contains only relevant fields: if an element has
 * skip, then skip matters.
 */
function findRuleOfElements({ endpoint, body }: Sent): RuleName | undefined {
  const { txns = [] } = JSON.parse(body) as { txns?: readonly Element[] };
  const has = (field: string, value: unknown) => txns.some((txn) => txn[field] === value);
  if (txns.length > 1) return 'arrays';
  if (has('skipBalanceUpdate', true)) return 'skip';
  if (endpoint === 'placeBets' && has('status', 'WAITING')) return 'waiting';
  if (has('isSingleState', true)) return 'singleState';
  if (endpoint === 'settleBets' && has('transactionType', 'BY_ROUND')) return 'byRound';
  return undefined;
}
