import { randomBytes } from 'node:crypto';
import type { Channel } from './encrypted-channel.js';
import { type Handshake, type Heard, type LinkDeps, refusalOf } from './handshake.js';
import { isProof, type OldHello, parseHello, proofOf } from './old-proof.js';
import type { Side } from './side.js';

export const OLD_WIRE = 1;
const NONCE_BYTES = 16;

/** WIRE 1 leaves frames unprotected, so a relay can change them. */
const PLAIN_CHANNEL: Channel = { encrypt: (plain) => plain, decrypt: (frame) => frame };

/**
 * Handshake with a member that runs the previous release, during an upgrade. WIRE 1 does not authenticate frames. The
 * listener proves nothing until the dialling end has proved that it knows the secret.
 *
 *   dialling end                            listening end
 *   hello {wire, storeId, tag, nonce}  ──>  <──  hello
 *   proof "…"                          ──>
 *                                      <──  proof "…"
 *
 * An end with WIRE 2 sends its WIRE 1 hello only after receiving the other end's. Two ends with WIRE 2 therefore never
 * get a WIRE 1 link, whatever a relay sends: the hello that a relay invents for one end is not the hello that the other
 * end's proof covers. A listener also requires a hello that names the store and a member, so unknown processes learn
 * nothing.
 */
export class OldHandshake implements Handshake {
  readonly opening = [];
  private readonly mine: OldHello;
  private theirs: OldHello | undefined = undefined;

  constructor(
    private readonly deps: LinkDeps,
    private readonly side: Side,
  ) {
    const { storeId, tag } = deps;
    this.mine = { wire: OLD_WIRE, storeId, tag, nonce: randomBytes(NONCE_BYTES).toString('hex') };
  }

  hear(frame: Buffer, isBytes: boolean): Heard {
    if (isBytes) throw new Error('it did not send a hello first');
    const text = frame.toString();
    return this.theirs === undefined ? this.greeted(parseHello(text)) : this.proved(text, this.theirs);
  }

  private greeted(theirs: OldHello | undefined): Heard {
    const { deps, side, mine } = this;
    if (theirs === undefined) throw new Error('its hello is not that of a walletd node');
    if (theirs.wire !== OLD_WIRE) throw new Error(`it speaks version ${theirs.wire} of the protocol`);
    const refusal =
      refusalOf(theirs, deps) ?? (side === 'dials' || deps.isMember(theirs.tag) ? undefined : 'it is not a member');
    if (refusal !== undefined) return { send: [], refusal };
    this.theirs = theirs;
    const hello = JSON.stringify(mine);
    if (side === 'listens') return { send: [hello] };
    return { send: [hello, proofOf(deps.secret, side, mine, theirs)], hasProved: true };
  }

  private proved(proof: string, theirs: OldHello): Heard {
    const { deps, side, mine } = this;
    const other = side === 'dials' ? 'listens' : 'dials';
    if (!isProof(proof, deps.secret, other, mine, theirs)) {
      throw new Error('it does not know the secret (cluster.secret)');
    }
    return {
      send: side === 'listens' ? [proofOf(deps.secret, side, mine, theirs)] : [],
      proven: { tag: theirs.tag, channel: PLAIN_CHANNEL, isOld: true },
    };
  }
}
