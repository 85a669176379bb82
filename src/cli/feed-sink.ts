import { readFileSync } from 'node:fs';
import { decodeText } from '../base/decode-text.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { ConfigError } from '../config/config-error.js';
import type { Retry } from '../push/retry.js';
import type { Sink } from '../push/sink.js';
import { parseSinkAddress, type SinkAddress } from '../push/sink-address.js';
import { parseSecret } from '../push/webhook-signature.js';
import { stdoutSink } from './print/stdout-sink.js';

const ENVIRONMENT = 'env:';

export interface SinkOptions {
  readonly secretFile?: string;
  readonly deadLetters?: string;
  /** Maximum number of events of different players that a sink receives at a time. */
  readonly parallel: number;
  /** Maximum length of a Redis Stream. */
  readonly maxLength?: number;
}

/** Reads the address of a sink, which may be in a variable. Throws a `ConfigError` that does not show the address. */
export function sinkAddressOf(text: string): SinkAddress {
  const name = text.startsWith(ENVIRONMENT) ? text.slice(ENVIRONMENT.length) : undefined;
  const address = name === undefined ? text : process.env[name];
  if (address === undefined || address === '') throw new ConfigError(`--to: the variable ${name} is not set`);
  try {
    return parseSinkAddress(address);
  } catch (error) {
    throw new ConfigError(`--to: this is not the address of a sink: ${messageOf(error)}`);
  }
}

/** Loads the client of this kind of sink, and no other. Does not connect. */
export async function openSink(address: SinkAddress, options: SinkOptions, log: Logger, retry: Retry): Promise<Sink> {
  switch (address.kind) {
    case 'stdout': {
      const { StdoutSink } = await import('../push/sinks/stdout.js');
      const { write } = stdoutSink();
      return new StdoutSink(write);
    }
    case 'redis': {
      const { RedisStreamSink } = await import('../push/sinks/redis-stream.js');
      return new RedisStreamSink(address.url, address.place, options.maxLength);
    }
    case 'nats': {
      const { NatsSink } = await import('../push/sinks/nats.js');
      return new NatsSink(new URL(address.url), address.place);
    }
    case 'amqp': {
      const { AmqpSink } = await import('../push/sinks/amqp.js');
      return new AmqpSink(address.url, address.place);
    }
    case 'webhook': {
      const { WebhookSink } = await import('../push/sinks/webhook.js');
      const { DeadLetters } = await import('../push/dead-letters.js');
      const { secretFile, deadLetters, parallel } = options;
      if (secretFile === undefined || deadLetters === undefined) {
        throw new ConfigError('a webhook needs --secret-file and --dead-letters');
      }
      return new WebhookSink({
        url: address.url,
        keys: keysOf(secretFile),
        parallel,
        deadLetters: new DeadLetters(deadLetters),
        retry,
        now: Date.now,
        log,
      });
    }
  }
}

/** Reads the secrets of a webhook, one per line. */
function keysOf(path: string): Buffer[] {
  try {
    const lines = decodeText(readFileSync(path)).split(/\r?\n/);
    const secrets = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
    if (secrets.length === 0) throw new Error('there is no secret');
    return secrets.map((secret, index) => {
      const key = parseSecret(secret);
      if (key === undefined) throw new Error(`secret ${index + 1} is not whsec_ and 24 to 64 bytes in Base64`);
      return key;
    });
  } catch (error) {
    throw new ConfigError(`--secret-file ${path}: ${messageOf(error)}`);
  }
}
