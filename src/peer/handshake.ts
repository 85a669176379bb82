import type { Channel } from './encrypted-channel.js';

const TAG = /^[0-9a-f]{8}$/;

export interface LinkDeps {
  readonly storeId: string;
  readonly tag: string;
  readonly secret: string;
  /** Whether the table names a member with this tag. */
  readonly isMember: (tag: string) => boolean;
}

export type Frame = Buffer | string;

/** The peer knows the secret. */
export interface Proven {
  readonly tag: string;
  readonly channel: Channel;
  /** The peer is of the release before, and its frames are not authenticated. */
  readonly isOld: boolean;
}

/** Answers to one frame of the other end. */
export interface Heard {
  readonly send: readonly Frame[];
  /** Among them is the proof of the end that dials, which a peer with another secret does not take. */
  readonly hasProved?: true;
  /** The handshake is over. */
  readonly proven?: Proven;
  /** The handshake is over, without a link; for people. */
  readonly refusal?: string;
}

export interface Handshake {
  /** Frames that this end says by itself. */
  readonly greeting: readonly Frame[];
  /** Throws where the frame is none of a member's. */
  hear(frame: Buffer, isBytes: boolean): Heard;
}

/** A member, to another one that has proved to know the secret. */
export interface Member {
  readonly storeId: string;
  readonly tag: string;
}

/** For people: the reason why there is no link to a peer that knows the secret. */
export function refusalOf(theirs: Member, { storeId, tag }: LinkDeps): string | undefined {
  if (!TAG.test(theirs.tag)) return 'it does not greet as a node of walletd does';
  if (theirs.storeId !== storeId) return `it serves another store, ${theirs.storeId}`;
  return theirs.tag === tag ? 'it is this very process' : undefined;
}
