import { isAscii, isUtf8 } from 'node:buffer';
import { Ajv, type ValidateFunction } from 'ajv';
import type { ScaleTable } from '../wallet/amount.js';
import type { CallbackCommand, Endpoint } from '../wallet/command.js';
import { isId, isLongerThan } from '../wallet/identifier.js';
import type { CallbackType, Envelope } from './callback-type.js';
import { CALLBACKS } from './callbacks.js';
import { NOT_AN_AMOUNT } from './fields.js';

export interface CodecSettings {
  readonly scales: ScaleTable;
  /** Largest single amount, in whole currency. */
  readonly amountMax: number;
  readonly txnsMax: number;
}

/** What of a request its answer repeats. */
export interface Echo {
  readonly id: string;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
}

/** A request that could be read. `command` is undefined when it is not valid; what names it is there all the same. */
export interface ReadRequest extends Echo {
  readonly command: CallbackCommand | undefined;
}

/** Stands for a body that could not be read, or must not be because its caller is not known. */
export const NOTHING_READ: ReadRequest = { id: '', productId: '', currency: '', username: '', command: undefined };

export type Validate = ValidateFunction<Envelope>;

/** Makes commands of one endpoint's bodies. */
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
    // A lone surrogate can only come as an escape, so most bodies are not searched for one.
    if (!this.validate(body) || (text.includes('\\u') && hasLoneSurrogate(body))) return invalid(body);
    try {
      const { id, productId, currency, username } = body;
      const money = { scale: this.settings.scales.of(currency), amountMax: this.settings.amountMax };
      return { id, productId, currency, username, command: this.type.toCommand(body, money) };
    } catch (error) {
      if (error === NOT_AN_AMOUNT) return invalid(body);
      throw error;
    }
  }
}

/** Compiles the schemas, once a thread. */
export function requestCodecs(settings: CodecSettings): Readonly<Record<Endpoint, RequestCodec>> {
  const validators = compileValidators(settings.txnsMax);
  return mapCallbacks((endpoint, type) => new RequestCodec(type, validators[endpoint], settings));
}

/** Whether they are schemas is checked by a test, and not at each start. */
export function compileValidators(txnsMax: number): Readonly<Record<Endpoint, Validate>> {
  const ajv = new Ajv({ strict: true, validateSchema: false, meta: false });
  ajv.addKeyword({
    keyword: 'codePoints',
    type: 'string',
    schemaType: 'array',
    // ajv's own maxLength counts code points of every string. Only one with more units than allowed needs that.
    compile:
      ([least, most]: [number, number]) =>
      (value: string) =>
        value.length >= least && !isLongerThan(value, most),
  });
  return mapCallbacks((_, type) => ajv.compile<Envelope>(type.schema(txnsMax)));
}

function mapCallbacks<T>(make: (endpoint: Endpoint, type: CallbackType) => T): Readonly<Record<Endpoint, T>> {
  const entries = Object.entries(CALLBACKS) as [Endpoint, CallbackType][];
  return Object.fromEntries(entries.map(([endpoint, type]) => [endpoint, make(endpoint, type)])) as Record<Endpoint, T>;
}

/** Bytes that are not UTF-8 become an empty text, which is no JSON either. Most bodies are ASCII and need no decoding. */
export function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString() : '';
}

function invalid(body: object): ReadRequest {
  const { id, productId, username } = body as { id?: unknown; productId?: unknown; username?: unknown };
  const text = (value: unknown) => (isId(value) ? value : '');
  return { ...NOTHING_READ, id: text(id), productId: text(productId), username: text(username) };
}

function hasLoneSurrogate(body: Envelope & { readonly txns?: readonly NamedTxn[] }): boolean {
  const { id, productId, currency, username, txns = [] } = body;
  return [id, productId, currency, username, ...txns.flatMap(textsOf)].some((text) => !text.isWellFormed());
}

interface NamedTxn {
  readonly id: string;
  readonly roundId: string;
  readonly gameCode?: unknown;
  readonly playInfo?: unknown;
}

/** A field that an endpoint does not know may hold anything. */
function textsOf({ id, roundId, gameCode, playInfo }: NamedTxn): string[] {
  return [id, roundId, gameCode, playInfo].filter((value) => typeof value === 'string');
}
