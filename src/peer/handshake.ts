import type { Channel } from './encrypted-channel.js';

const TAG = /^[0-9a-f]{8}$/;

export interface LinkDeps {
  readonly storeId: string;
  readonly tag: string;
  readonly secret: string;
  /** Whether the registry lists a member with this tag. */
  readonly isMember: (tag: string) => boolean;
}

export type Frame = Buffer | string;

/** A peer that has proved that it knows the secret. */
export interface Proven {
  readonly tag: string;
  readonly channel: Channel;
  /** The peer runs the previous release, and its frames are not authenticated. */
  readonly isOld: boolean;
}

/** Result of one frame from the other end. */
export interface Heard {
  readonly send: readonly Frame[];
  /** `send` contains the dialling end's proof, which a peer with another secret rejects. */
  readonly hasProved?: true;
  /** The handshake has succeeded. */
  readonly proven?: Proven;
  /** The handshake has ended without a link; the reason is for people. */
  readonly refusal?: string;
}

export interface Handshake {
  /** Frames that this end sends first, unasked. */
  readonly greeting: readonly Frame[];
  /** Handles one frame. Throws when the frame does not come from a member. */
  hear(frame: Buffer, isBytes: boolean): Heard;
}

/** Identity that a member shows to a peer that has proved that it knows the secret. */
export interface Member {
  readonly storeId: string;
  readonly tag: string;
}

/** Reason to refuse a peer that knows the secret, for people; undefined to accept. */
export function refusalOf(theirs: Member, { storeId, tag }: LinkDeps): string | undefined {
  if (!TAG.test(theirs.tag)) return 'it does not greet as a node of walletd does';
  if (theirs.storeId !== storeId) return `it serves another store, ${theirs.storeId}`;
  return theirs.tag === tag ? 'it is this very process' : undefined;
}
