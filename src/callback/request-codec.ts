import { isAscii, isUtf8 } from 'node:buffer';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { withoutMark } from '../base/decode-text.js';
import type { AmountLimits, ScaleTable } from '../wallet/amount.js';
import type { Endpoint, PlatformCommand } from '../wallet/command.js';
import { isId, isLongerThan } from '../wallet/identifier.js';
import type { BodyRules, CallbackType, Envelope } from './callback-type.js';
import { CALLBACKS } from './callbacks.js';
import { completeBody } from './complete-body.js';
import { type BodyRefusal, NOT_JSON, refusalOf } from './refusal.js';
import { sessionDigest } from './session-token.js';

export interface CodecSettings extends BodyRules {
  readonly scales: ScaleTable;
  readonly amountLimits: AmountLimits;
  /**
   * The largest single credit without a bet, in whole currency units. If null, the limit is the largest single amount.
   */
  readonly creditMax: number | null;
  /** The largest single adjustBalance credit, in whole currency units. If null, `creditMax` is the limit. */
  readonly movementMax: number | null;
  /** With `ignore`, walletd does not read the session token of a request. */
  readonly sessionToken: 'ignore' | 'check';
}

/** The fields of a request that the answer repeats. */
export interface Echo {
  readonly id: string;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
}

/** A parsed request: its command or, if it has none, the reason. The identifying fields are present in both cases. */
export type ReadRequest = Echo &
  (
    | { readonly command: PlatformCommand; readonly refusal: undefined }
    | { readonly command: undefined; readonly refusal: BodyRefusal }
  );

/** Stands for a body that could not be read, or that must not be read because its caller is unknown. */
export const NOTHING_READ: ReadRequest = {
  id: '',
  productId: '',
  currency: '',
  username: '',
  command: undefined,
  refusal: NOT_JSON,
};

export type Validate = ValidateFunction<Envelope>;

/** Converts one endpoint's bodies to commands. */
export class RequestCodec {
  constructor(
    private readonly type: CallbackType,
    private readonly validate: Validate,
    private readonly settings: CodecSettings,
  ) {}

  read(text: string): ReadRequest {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return NOTHING_READ;
    }
    if (typeof body !== 'object' || body === null) return NOTHING_READ;
    let isCompleted = false;
    if (!this.validate(body)) {
      if (!this.complete(body)) return invalid(body, refusalOf(this.validate.errors?.[0] as ErrorObject));
      isCompleted = true;
    }
    // JSON in UTF-8 can express a lone surrogate only as an escape sequence, so most bodies need no search.
    const surrogate = text.includes('\\u') ? findLoneSurrogate(body) : undefined;
    if (surrogate !== undefined) return invalid(body, surrogate);
    const { id, productId, currency, username } = body;
    const { scales, amountLimits, isStrict } = this.settings;
    const amountMax = amountLimits.of(currency);
    const creditMax = this.settings.creditMax ?? amountMax;
    const movementMax = this.settings.movementMax ?? creditMax;
    const money = { scale: scales.of(currency), amountMax, creditMax, movementMax, isStrict };
    const command = this.type.toCommand(body, money);
    if ('kind' in command) return invalid(body, command);
    const asked = this.withSession(command, body);
    const withCompletion = isCompleted ? { ...asked, isCompleted } : asked;
    return { id, productId, currency, username, command: withCompletion, refusal: undefined };
  }

  /** Fills in the defaults of missing fields. Returns false if no field was missing or if the body is still invalid. */
  private complete(body: object): body is Envelope {
    const { isStrict, txnsMax } = this.settings;
    return !isStrict && completeBody(body, this.type, txnsMax) && this.validate(body);
  }

  /** Adds the digest of the session token. The token itself is not passed on. */
  private withSession(command: PlatformCommand, body: Envelope): PlatformCommand {
    if (this.settings.sessionToken === 'ignore' || !this.type.hasSession) return command;
    const { sessionToken } = body as { readonly sessionToken?: unknown };
    return { ...command, session: sessionDigest(command.username, sessionToken) } as PlatformCommand;
  }
}

/** Compiles the codecs of all endpoints. Called once per thread. */
export function requestCodecs(settings: CodecSettings): Readonly<Record<Endpoint, RequestCodec>> {
  const validators = compileValidators(settings);
  return mapCallbacks((endpoint, type) => new RequestCodec(type, validators[endpoint], settings));
}

/**
 * Compiles the validators. The schemas themselves are not validated here, because a test does that. Without ajv's
 * optimizer pass, compiling takes only 60 % of the time, and the code is just as fast.
 */
export function compileValidators(rules: BodyRules): Readonly<Record<Endpoint, Validate>> {
  const ajv = new Ajv({ strict: true, validateSchema: false, meta: false, verbose: true, code: { optimize: false } });
  ajv.addVocabulary(['published']);
  ajv.addKeyword({
    keyword: 'codePoints',
    type: 'string',
    schemaType: 'array',
    // Replaces ajv's maxLength, which counts the code points of every string. It counts them only if the string has
    // more UTF-16 units than allowed code points.
    compile:
      ([least, most]: [number, number]) =>
      (value: string) =>
        value.length >= least && !isLongerThan(value, most),
  });
  ajv.addKeyword({
    keyword: 'foreign',
    schemaType: 'boolean',
    compile: () => (value: unknown) => value === null || (Array.isArray(value) && value.length === 0),
  });
  return mapCallbacks((_, type) => ajv.compile<Envelope>(type.schema(rules)));
}

function mapCallbacks<T>(make: (endpoint: Endpoint, type: CallbackType) => T): Readonly<Record<Endpoint, T>> {
  const entries = Object.entries(CALLBACKS) as [Endpoint, CallbackType][];
  return Object.fromEntries(entries.map(([endpoint, type]) => [endpoint, make(endpoint, type)])) as Record<Endpoint, T>;
}

/**
 * The body's text. If the bytes are not valid UTF-8, the text is empty, so that it is not valid JSON. Most bodies are
 * ASCII and need no decoding.
 */
export function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? withoutMark(bytes.toString()) : '';
}

function invalid(body: object, refusal: BodyRefusal): ReadRequest {
  const { id, productId, username } = body as { id?: unknown; productId?: unknown; username?: unknown };
  const text = (value: unknown) => (isId(value) ? value : '');
  return {
    id: text(id),
    productId: text(productId),
    currency: '',
    username: text(username),
    command: undefined,
    refusal,
  };
}

const NAMES = ['id', 'productId', 'currency', 'username'] as const;
/**
 * Fields of an element that are searched for lone surrogates. Fields that an endpoint does not know may contain
 * anything and are not searched.
 */
const TXN_NAMES = ['id', 'refId', 'roundId', 'gameCode', 'playInfo'] as const;
type NamedTxn = { readonly [N in (typeof TXN_NAMES)[number]]?: unknown };

function findLoneSurrogate(body: Envelope & { readonly txns?: readonly NamedTxn[] }): BodyRefusal | undefined {
  const isIllFormed = (value: unknown) => typeof value === 'string' && !value.isWellFormed();
  const at = (path: string): BodyRefusal => ({
    kind: 'lone-surrogate',
    path,
    rule: 'must not contain half a character',
  });
  for (const name of NAMES) if (isIllFormed(body[name])) return at(name);
  for (const [i, txn] of (body.txns ?? []).entries()) {
    for (const name of TXN_NAMES) if (isIllFormed(txn[name])) return at(`txns[${i}].${name}`);
  }
  return undefined;
}
