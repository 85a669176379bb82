import { randomBytes } from 'node:crypto';
import { type Channel, EncryptedChannel, ForgedFrame } from './encrypted-channel.js';
import { type Handshake, type Heard, type LinkDeps, type Member, refusalOf } from './handshake.js';
import { OldHandshake } from './old-handshake.js';
import type { Side } from './side.js';

/**
 * The version of the link protocol. It is raised when members send messages that an older version would misread. Each
 * end sends the newest version that it supports. The keys of a link are derived from these bytes, so a relay between
 * the ends cannot lower the version.
 */
export const WIRE = 2;
/**
 * The path of the WebSocket request for members that wait for the listener's hello. Members with WIRE 1 request `/`.
 */
export const LINK_PATH = '/2';

const NONCE_BYTES = 32;
const HELLO_BYTES = 1 + NONCE_BYTES;

/** Member record of the dialling end, which also names the member that it dials. */
interface DiallingMember extends Member {
  readonly dialled?: string;
}

/**
 * Both ends prove that they know the secret before any message is read. An unknown process learns only the version.
 *
 *   dialling end                                       listening end
 *                                                 <──  version, nonce
 *   version, nonce, encrypted {member, dialled}   ──>
 *                                                 <──  encrypted {member}
 *
 * The keys are derived from the secret and both hellos, so the first encrypted frame is a proof for this link alone.
 * The listener proves nothing until the dialling end has proved that it knows the secret. An unknown process that dials
 * two members therefore gets no proof from one that it could show to the other.
 */
export function newHandshake(deps: LinkDeps, dialled: string | undefined): Handshake {
  return dialled === undefined ? new Listening(deps) : new Dialling(deps, dialled);
}

class Listening implements Handshake {
  private readonly hello = newHello();
  readonly opening = [this.hello];

  constructor(private readonly deps: LinkDeps) {}

  hear(frame: Buffer, isBytes: boolean): Heard {
    const theirs = helloOf(frame, isBytes);
    const { storeId, tag } = this.deps;
    const channel = channelOf(this.deps, 'listens', this.hello, theirs);
    const member = decryptMember(channel, frame.subarray(HELLO_BYTES));
    const send = [encryptMember(channel, { storeId, tag })];
    const refusal =
      refusalOf(member, this.deps) ??
      (member.dialled === tag ? undefined : 'it dialled a process that had this address before');
    if (refusal !== undefined) return { send, refusal };
    return { send, proven: { tag: member.tag, channel, isOld: false } };
  }
}

class Dialling implements Handshake {
  readonly opening = [];
  private channel: Channel | undefined = undefined;
  private old: Handshake | undefined = undefined;

  constructor(
    private readonly deps: LinkDeps,
    private readonly dialled: string,
  ) {}

  hear(frame: Buffer, isBytes: boolean): Heard {
    const { deps, dialled, channel } = this;
    if (channel === undefined && !isBytes) this.old ??= new OldHandshake(deps, 'dials');
    if (this.old !== undefined) return this.old.hear(frame, isBytes);
    if (channel === undefined) {
      const hello = newHello();
      this.channel = channelOf(deps, 'dials', helloOf(frame, isBytes), hello);
      const { storeId, tag } = deps;
      return {
        send: [Buffer.concat([hello, encryptMember(this.channel, { storeId, tag, dialled })])],
        hasProved: true,
      };
    }
    const member = decryptMember(channel, frame);
    const refusal = refusalOf(member, deps);
    return refusal === undefined
      ? { send: [], proven: { tag: member.tag, channel, isOld: false } }
      : { send: [], refusal };
  }
}

function newHello(): Buffer {
  return Buffer.concat([Buffer.from([WIRE]), randomBytes(NONCE_BYTES)]);
}

/** Throws if this end does not support the version. */
function helloOf(frame: Buffer, isBytes: boolean): Buffer {
  const wire = frame[0];
  if (!isBytes || frame.length < HELLO_BYTES) throw new Error('its hello is not that of a walletd node');
  if (wire !== WIRE) throw new Error(`it speaks version ${wire} of the protocol, this node ${WIRE}`);
  return frame.subarray(0, HELLO_BYTES);
}

function channelOf({ secret }: LinkDeps, side: Side, listener: Buffer, dialler: Buffer): Channel {
  return new EncryptedChannel(secret, side, [listener, dialler]);
}

function encryptMember(channel: Channel, member: DiallingMember): Buffer {
  return channel.encrypt(Buffer.from(JSON.stringify(member)));
}

function decryptMember(channel: Channel, frame: Buffer): DiallingMember {
  try {
    return JSON.parse(channel.decrypt(frame).toString());
  } catch (error) {
    throw error instanceof ForgedFrame ? new Error('it does not know the secret (cluster.secret)') : error;
  }
}
