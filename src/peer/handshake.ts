import type { Channel } from './encrypted-channel.js';

const TAG = /^[0-9a-f]{8}$/;

export interface LinkDeps {
  readonly storeId: string;
  readonly tag: string;
  readonly secret: string;
  /** True if the registry lists a member with this tag. */
  readonly isMember: (tag: string) => boolean;
}

export type Frame = Buffer | string;

/** A peer that has proved that it knows the secret. */
export interface Proven {
  readonly tag: string;
  readonly channel: Channel;
  /** True if the peer runs the previous release, in which frames are not authenticated. */
  readonly isOld: boolean;
}

/** Result of handling one frame from the other end. */
export interface Heard {
  readonly send: readonly Frame[];
  /** `send` contains the dialling end's proof. A peer with a different secret rejects it. */
  readonly hasProved?: true;
  /** The handshake has succeeded. */
  readonly proven?: Proven;
  /** The handshake has ended without a link, for this human-readable reason. */
  readonly refusal?: string;
}

export interface Handshake {
  /** Frames that this end sends first, before it receives any. */
  readonly opening: readonly Frame[];
  /** Handles one frame. Throws if the frame does not come from a member. */
  hear(frame: Buffer, isBytes: boolean): Heard;
}

/** The identity that a member shows to a peer that has proved that it knows the secret. */
export interface Member {
  readonly storeId: string;
  readonly tag: string;
}

/** A human-readable reason to refuse a peer that knows the secret; undefined to accept it. */
export function refusalOf(theirs: Member, { storeId, tag }: LinkDeps): string | undefined {
  if (!TAG.test(theirs.tag)) return 'its hello is not that of a walletd node';
  if (theirs.storeId !== storeId) return `it serves a different store, ${theirs.storeId}`;
  return theirs.tag === tag ? 'it is this process itself' : undefined;
}
