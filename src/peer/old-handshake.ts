import { randomBytes } from 'node:crypto';
import { type Handshake, type Heard, type LinkDeps, refusalOf } from './handshake.js';
import { type Greeting, isProof, maybeGreeting, proofOf } from './old-proof.js';
import type { Channel } from './sealed-channel.js';
import type { Side } from './side.js';

export const OLD_WIRE = 1;
const NONCE_BYTES = 16;
/**
 * Beginning of a nonce by which a member says that it speaks WIRE 2. The nonce is in both proofs, so nobody between two such members
 * can hide it and make them speak WIRE 1, as the servers' random of TLS 1.3 does.
 */
const MARK = '77616c6c6574';

/** WIRE 1 leaves frames as they are: whoever sits between the ends can change them. */
const OPEN_CHANNEL: Channel = { seal: (plain) => plain, open: (frame) => frame };

/**
 * A link with a member of the release before, for the time of an upgrade. WIRE 1 seals nothing; who listens proves nothing to
 * whom it does not know.
 *
 *   who dials                               who listens
 *   hello {wire, storeId, tag, nonce}  ──>  <──  hello
 *   proof "…"                          ──>
 *                                      <──  proof "…"
 *
 * A listener of WIRE 2 says its hello only to whom can name the store and a member: strangers learn nothing.
 */
export class OldHandshake implements Handshake {
  readonly greeting = [];
  private readonly mine: Greeting;
  private theirs: Greeting | undefined = undefined;

  constructor(
    private readonly deps: LinkDeps,
    private readonly side: Side,
  ) {
    const { storeId, tag } = deps;
    const nonce = MARK + randomBytes(NONCE_BYTES).toString('hex').slice(MARK.length);
    this.mine = { wire: OLD_WIRE, storeId, tag, nonce };
  }

  hear(frame: Buffer, isBytes: boolean): Heard {
    if (isBytes) throw new Error('it has not greeted first');
    const text = frame.toString();
    return this.theirs === undefined ? this.greeted(maybeGreeting(text)) : this.proved(text, this.theirs);
  }

  private greeted(theirs: Greeting | undefined): Heard {
    const { deps, side, mine } = this;
    if (theirs === undefined) throw new Error('it does not greet as a node of walletd does');
    if (theirs.wire !== OLD_WIRE) throw new Error(`it speaks version ${theirs.wire} of the protocol`);
    const refusal =
      refusalOf(theirs, deps) ?? (side === 'dials' || deps.isMember(theirs.tag) ? undefined : 'it is no member');
    if (refusal !== undefined) return { send: [], refusal };
    if (theirs.nonce.startsWith(MARK)) throw new Error('somebody between made it speak an older version');
    this.theirs = theirs;
    const hello = JSON.stringify(mine);
    if (side === 'listens') return { send: [hello] };
    return { send: [hello, proofOf(deps.secret, side, mine, theirs)], hasProved: true };
  }

  private proved(proof: string, theirs: Greeting): Heard {
    const { deps, side, mine } = this;
    const other = side === 'dials' ? 'listens' : 'dials';
    if (!isProof(proof, deps.secret, other, mine, theirs)) {
      throw new Error('it does not know the secret (cluster.secret)');
    }
    return {
      send: side === 'listens' ? [proofOf(deps.secret, side, mine, theirs)] : [],
      proven: { tag: theirs.tag, channel: OPEN_CHANNEL, isOld: true },
    };
  }
}
