import { readFileSync } from 'node:fs';
import { aimedAt } from './attacks/aimed-at.js';
import type { Attack, Secrets } from './attacks/attack.js';
import { forgedSignatures } from './attacks/forged-signatures.js';
import { headerSets } from './attacks/header-sets.js';
import { mutatedCallbacks } from './attacks/mutated-callbacks.js';
import { operatorCalls } from './attacks/operator-calls.js';
import { randomBytes } from './attacks/random-bytes.js';
import { strangeLinks } from './attacks/strange-links.js';
import { cutOffUploads, floods, oversizedUploads, pipelining, slowUploads } from './attacks/uploads.js';

/** A configuration of walletd, and the attacks on it. */
export interface Kind {
  readonly name: string;
  /** Contents of the settings file. */
  readonly settings: object;
  readonly requestDeadlineMs: number;
  readonly bodyBytesMax: number;
  readonly secrets?: Secrets;
  /** True for two nodes on one Redis, of which the first is attacked. */
  readonly isCluster?: true;
  /** Attacks to choose from. An attack that is listed twice is chosen twice as often. */
  readonly attacks: readonly Attack[];
}

const TINY = JSON.parse(readFileSync(new URL('../../../config/tiny.json', import.meta.url), 'utf8'));
const DEFAULT = JSON.parse(readFileSync(new URL('../../../config/default.json', import.meta.url), 'utf8'));
const CONNECTIONS_MAX = 32;

const UPLOADS = [slowUploads, cutOffUploads, cutOffUploads, oversizedUploads, pipelining, pipelining, floods];
const REQUESTS = [mutatedCallbacks, mutatedCallbacks, mutatedCallbacks, headerSets, headerSets, randomBytes];
const OPERATORS = [operatorCalls, operatorCalls];
const onPlain = (listener: 'health' | 'nodes' | 'early') =>
  [headerSets, randomBytes, slowUploads, cutOffUploads, pipelining, floods].map((attack) => aimedAt(listener, attack));
const HEALTH = onPlain('health');

const secrets: Secrets = { signatureKey: 'a-secret-of-the-platform', readToken: 'a-token-of-the-auditor' };
export const OPERATOR_TOKEN = 'a-token-of-the-operator';

export const KINDS: readonly Kind[] = [
  {
    name: 'tiny limits',
    settings: {
      ...TINY,
      workers: 0,
      limits: { ...TINY.limits, connectionsMax: CONNECTIONS_MAX },
      snapshots: { everySeconds: 2 },
    },
    requestDeadlineMs: TINY.requestDeadlineMs,
    bodyBytesMax: TINY.limits.bodyBytesMax,
    attacks: [...REQUESTS, ...UPLOADS, ...OPERATORS, ...HEALTH],
  },
  {
    name: 'default limits',
    settings: { workers: 1 },
    requestDeadlineMs: DEFAULT.requestDeadlineMs,
    bodyBytesMax: DEFAULT.limits.bodyBytesMax,
    attacks: [...REQUESTS, ...UPLOADS, ...OPERATORS, ...HEALTH],
  },
  {
    name: 'keys and tokens',
    settings: {
      workers: 0,
      signature: { keys: `platform:${secrets.signatureKey}` },
      admin: { token: OPERATOR_TOKEN, tokens: [{ name: 'auditor', role: 'read', token: secrets.readToken }] },
    },
    requestDeadlineMs: DEFAULT.requestDeadlineMs,
    bodyBytesMax: DEFAULT.limits.bodyBytesMax,
    secrets,
    attacks: [forgedSignatures, forgedSignatures, forgedSignatures, ...REQUESTS, ...UPLOADS, ...OPERATORS, ...HEALTH],
  },
  {
    name: 'two nodes',
    settings: { workers: 0, cluster: { secret: 'a-secret-of-all-nodes', expect: 2, drainSeconds: 5 } },
    requestDeadlineMs: DEFAULT.requestDeadlineMs,
    bodyBytesMax: DEFAULT.limits.bodyBytesMax,
    isCluster: true,
    attacks: [...Array.from({ length: 12 }, () => strangeLinks), ...onPlain('nodes'), ...REQUESTS],
  },
];

/** Attacks during a start that waits for its store. */
export const EARLY_ATTACKS = onPlain('early');
