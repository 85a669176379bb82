import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { withoutMark } from '../base/decode-text.js';
import { object, type TypeOf } from '../base/json-schema.js';
import { messageOf } from '../base/message-of.js';
import { Slices } from '../base/slices.js';
import { spreadsheetFault } from '../base/spreadsheet-cell.js';
import { FAILURES } from '../callback/failures.js';
import type { Answer } from '../wallet/decision.js';
import type { Operator } from '../wallet/state/operation.js';
import type { AdminDeps, SignedCommand } from './admin-deps.js';
import { BodyCut, bodyUntilCut } from './body-until-cut.js';
import { isObject } from './cursor.js';
import { amount, currency, id, operationId } from './fields.js';
import { mustUnits } from './money.js';
import type { MoneyByHand } from './money-by-hand.js';
import { answer } from './openapi.js';
import { badRequest, Problem, unsupportedMediaType } from './problem.js';
import { type Route, route } from './route.js';
import { ref } from './schemas.js';
import { validatorOf } from './validation.js';

export const LINES_TYPES = ['application/x-ndjson', 'application/jsonl'];
export const NO_LINES = unsupportedMediaType('newline-delimited JSON with Content-Type: application/x-ndjson');
const LINE_BYTES_MAX = 16 * 1024;
/** Lines in progress at once: enough to fill log entries, but too few to fill a mailbox. */
const LINES_AT_ONCE = 512;
const BUSY_RETRIES_MAX = 100;
const BUSY_RETRY_MS = 20;
const NEWLINE = 0x0a;
const EXAMPLE = '{"id":"open-ann","username":"ann","currency":"THB","balance":100.25}';

export type ImportDeps = Pick<AdminDeps, 'clock' | 'log'> & {
  readonly settings: Pick<AdminDeps['settings'], 'importLinesMax' | 'scales' | 'amountLimits'>;
};
type MoneyMover = Pick<MoneyByHand, 'move'>;
type SignedImport = Extract<SignedCommand, { type: 'import-player' }>;

/** The operator who imports, and whether the operator still may. */
interface Importer {
  readonly operator: Operator;
  readonly isKnown: () => boolean;
}

/** The reason why a line cannot be imported, with those of its fields that could be read. */
interface UnusableLine {
  readonly reason: string;
  readonly id?: string;
  readonly username?: string;
}

/** Non-blank line and its line number in the body. */
interface ReadLine {
  readonly lineNumber: number;
  readonly read: SignedImport | UnusableLine;
}

type Result = { readonly result: 'created' | 'skipped' } | { readonly result: 'refused'; readonly reason: string };

const line = object(
  { id: operationId, username: id, currency, balance: amount },
  {},
  // Allows unknown fields, so that lines exported from another system can be sent unchanged.
  { additionalProperties: true },
);
const validateLine = validatorOf(line, 'the line');

/**
 * Creates players with their opening balances from newline-delimited JSON. Answers with one line for each: created,
 * skipped (an earlier line was identical) or refused (with the reason). The last line contains totals, and states
 * whether lines are missing. An import may be repeated.
 */
export function importRoute(deps: ImportDeps, byHand: MoneyMover, stopping: AbortSignal): Route {
  return route<object, object, unknown>('POST', '/v1/players:import', {
    operationId: 'importPlayers',
    tag: 'players',
    summary: 'Creates players with their opening balances, from one line of JSON each',
    lines: line,
    responses: {
      200: answer(
        'One line for each line of the request, then one with the totals',
        ref('ImportLine'),
        'application/x-ndjson',
      ),
    },
    problems: [400, 403, 413, 415],
    handle: async ({ body, operator, raw, isKnown }, reply) => {
      if (!(body instanceof Readable)) throw NO_LINES;
      reply.header('Content-Type', 'application/x-ndjson');
      const chunks = bodyUntilCut(body, raw, reply.raw, stopping);
      return reply.send(Readable.from(report(chunks, { operator, isKnown }, deps, byHand)));
    },
  });
}

async function* report(
  chunks: AsyncIterable<Buffer>,
  by: Importer,
  deps: ImportDeps,
  byHand: MoneyMover,
): AsyncGenerator<string> {
  const sums = { created: 0, skipped: 0, refused: 0 };
  let lines = 0;
  let cut: string | undefined = 'the client has disconnected';
  try {
    for await (const { text, results, lineNumber } of answers(chunks, by, deps, byHand)) {
      for (const result of results) sums[result]++;
      lines = lineNumber;
      if (text !== '') yield text;
    }
    cut = undefined;
  } catch (error) {
    cut = messageOf(error);
  } finally {
    const fields = { operator: by.operator.name, lines, ...sums };
    if (cut === undefined) deps.log.info(fields, 'import ended');
    else deps.log.warn({ code: 'import-cut', ...fields, reason: cut }, 'import cut off');
  }
  yield `${JSON.stringify(cut === undefined ? sums : { ...sums, lines, cut })}\n`;
}

/** The answers to a batch of lines: as text, as one result per line, and the number of the last line. */
interface Answers {
  readonly text: string;
  readonly results: readonly Result['result'][];
  readonly lineNumber: number;
}

async function* answers(
  chunks: AsyncIterable<Buffer>,
  { operator, isKnown }: Importer,
  deps: ImportDeps,
  byHand: MoneyMover,
): AsyncGenerator<Answers> {
  let lineNumber = 0;
  let linesRead = 0;
  const slices = new Slices(deps.clock, setImmediate);
  for await (const lines of inGroups(linesOf(chunks), LINES_AT_ONCE)) {
    const read: ReadLine[] = [];
    for (const line of lines) {
      lineNumber++;
      if (!isBlank(line)) read.push({ lineNumber, read: readLine(line, ++linesRead, operator, deps) });
      await slices.yieldWhenDue();
    }
    // An import may take hours, and the token may have been revoked in the meantime.
    if (!isKnown()) throw new BodyCut('its operator may not import any more');
    const results = await Promise.all(read.map((one) => importLine(one, byHand)));
    let text = '';
    for (const result of results) {
      text += `${JSON.stringify(result)}\n`;
      await slices.yieldWhenDue();
    }
    yield { text, results: results.map(({ result }) => result), lineNumber: read.at(-1)?.lineNumber ?? lineNumber };
  }
}

/** `count` is the number of non-blank lines read so far, including this one. */
function readLine(
  line: Buffer | undefined,
  count: number,
  by: Operator,
  deps: ImportDeps,
): SignedImport | UnusableLine {
  let value: unknown;
  try {
    if (count > deps.settings.importLinesMax) {
      throw badRequest(`an import may have at most ${deps.settings.importLinesMax} lines: send the rest in another`);
    }
    value = parse(line, count === 1);
    return toCommand(value, by, deps);
  } catch (error) {
    if (error instanceof Problem) return { reason: error.detail, ...namesIn(value) };
    throw error;
  }
}

async function importLine({ lineNumber: line, read }: ReadLine, byHand: MoneyMover) {
  if ('reason' in read) {
    const { reason, ...names } = read;
    return { line, ...names, result: 'refused', reason } as const;
  }
  const { id, username } = read;
  return { line, id, username, ...(await executeWithRetry(read, byHand)) };
}

function parse(line: Buffer | undefined, isFirst: boolean): unknown {
  if (line === undefined) throw badRequest(`a line may have at most ${LINE_BYTES_MAX} bytes`);
  if (!isUtf8(line)) throw badRequest('the line is not UTF-8');
  try {
    return JSON.parse(isFirst ? withoutMark(line.toString()) : line.toString());
  } catch {
    throw badRequest(`the line is not JSON, such as ${EXAMPLE} (from CSV: docs/operator-api.md)`);
  }
}

function toCommand(value: unknown, by: Operator, deps: ImportDeps): SignedImport {
  const valid = validateLine(value);
  if (valid !== true) throw valid.error;
  const { id, username, currency, balance } = value as TypeOf<typeof line>;
  for (const [name, text] of Object.entries({ id, username })) {
    const fault = spreadsheetFault(text);
    if (fault !== undefined) throw badRequest(`${name} ${fault}`);
  }
  const opening = mustUnits(deps.settings, currency, balance, 'balance');
  return { type: 'import-player', id, username, currency, balance: opening, by };
}

function namesIn(value: unknown): Pick<UnusableLine, 'id' | 'username'> {
  if (!isObject(value)) return {};
  const { id, username } = value;
  return { ...(typeof id === 'string' && { id }), ...(typeof username === 'string' && { username }) };
}

/** Retries while a shard is busy, because an import is never urgent. Gives up after `BUSY_RETRIES_MAX` retries. */
async function executeWithRetry(command: SignedImport, byHand: MoneyMover): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    const answer = await moveOpening(command, byHand);
    if (answer instanceof Problem) return { result: 'refused', reason: answer.detail };
    if (answer.type === 'accepted') return { result: answer.isRepeat ? 'skipped' : 'created' };
    const { httpStatus, sentence } = FAILURES[answer.failure];
    if (answer.failure === 'duplicate-transaction') {
      return { result: 'refused', reason: 'the player exists and was not created by this line' };
    }
    if (httpStatus !== 503 || attempt === BUSY_RETRIES_MAX) return { result: 'refused', reason: sentence };
    await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
  }
}

/** A line that exceeds one of its operator's limits is refused like any other invalid line. */
async function moveOpening(command: SignedImport, byHand: MoneyMover): Promise<Answer | Problem> {
  const { currency, balance: amount } = command;
  try {
    return await byHand.move({ command, currency, amount }, false);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Lines without their newline; undefined marks a line that is too long. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = () => {
    const line = length > LINE_BYTES_MAX ? undefined : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    add(chunk.subarray(start));
  }
  yield take();

  function add(part: Buffer): void {
    length += part.length;
    if (length <= LINE_BYTES_MAX) parts.push(part);
    else parts = [];
  }
}

function isBlank(line: Buffer | undefined): boolean {
  return line?.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09) === true;
}

async function* inGroups<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
