import { randomBytes } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { RawData, WebSocket } from 'ws';
import { messageOf } from '../base/message-of.js';
import type { PeerMessage } from '../cluster/peer-protocol.js';
import { type Greeting, isProof, maybeGreeting, proofOf, type Side } from './proof.js';

/** Raised when what members say changes so that an older one would misread it. */
export const WIRE = 1;
const GREETING_MS = 2000;
const GREETING_BYTES_MAX = 1024;
/** A peer says something five times a second. Of a machine that is gone, or cut off, TCP itself says nothing for minutes. */
const LOOK_MS = 1000;
const SILENT_LOOKS_MAX = 3;
const CLOSED = 'the connection was closed';
/** A peer that does not read is as one that is not there. */
const BUFFERED_MAX = 64 * 1024 * 1024;

export interface LinkDeps {
  readonly storeId: string;
  readonly tag: string;
  readonly secret: string;
}

export interface LinkEvents {
  /** The peer has proved that it is one; its tag. */
  onOpen(link: PeerLink, tag: string): void;
  onMessage(tag: string, message: PeerMessage): void;
  /** `reason` is for people. */
  onClose(link: PeerLink, tag: string | undefined, reason: string): void;
}

/**
 * One connection to a peer. Both prove first that they know the secret, in two texts of JSON each; nothing else is heard
 * before. Then messages go as bytes.
 *
 *   who dials                               who listens
 *   hello {wire, storeId, tag, nonce}  ──>  <──  hello
 *   proof "…"                          ──>
 *                                      <──  proof "…"
 *
 * Who listens proves nothing to whom it does not know: a stranger who dials two members gets no proof from either of them to
 * show to the other.
 */
export class PeerLink {
  private readonly packr = new Packr({ useRecords: false, moreTypes: true });
  private readonly mine: Greeting;
  private theirs: Greeting | undefined = undefined;
  private isOpen = false;
  private reason = CLOSED;
  /** How often in a row nothing had come since the look before. */
  private silentLooks = 0;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly socket: WebSocket,
    private readonly side: Side,
    private readonly deps: LinkDeps,
    private readonly events: LinkEvents,
  ) {
    const { storeId, tag } = deps;
    this.mine = { wire: WIRE, storeId, tag, nonce: randomBytes(16).toString('hex') };
    this.timer = setTimeout(() => this.end('it has not greeted in time'), GREETING_MS);
    socket.on('message', (data, isBytes) => this.receive(data, isBytes));
    socket.on('error', (error) => {
      this.reason = error.message;
    });
    socket.on('close', () => {
      clearTimeout(this.timer);
      events.onClose(this, this.theirs?.tag, this.reason);
    });
    if (socket.readyState === socket.OPEN) this.greet();
    else socket.on('open', () => this.greet());
  }

  /** False when the peer does not take it. */
  send(message: PeerMessage): boolean {
    if (!this.isOpen || this.socket.readyState !== this.socket.OPEN) return false;
    if (this.socket.bufferedAmount > BUFFERED_MAX) {
      this.end('it does not read what is sent to it');
      return false;
    }
    this.socket.send(this.packr.pack(message));
    return true;
  }

  end(reason: string): void {
    this.reason = reason;
    this.isOpen = false;
    this.socket.terminate();
  }

  private greet(): void {
    this.socket.send(JSON.stringify(this.mine));
  }

  private receive(data: RawData, isBytes: boolean): void {
    const bytes = data as Buffer;
    this.silentLooks = 0;
    try {
      if (this.isOpen && isBytes) this.events.onMessage(this.theirs?.tag as string, this.packr.unpack(bytes));
      else if (isBytes || this.isOpen || bytes.length > GREETING_BYTES_MAX) this.end('it has not greeted first');
      else if (this.theirs === undefined) this.greeted(maybeGreeting(bytes.toString()));
      else this.proved(bytes.toString(), this.theirs);
    } catch (error) {
      this.end(`it sent what cannot be read: ${messageOf(error)}`);
    }
  }

  private greeted(theirs: Greeting | undefined): void {
    const { storeId, tag } = this.deps;
    if (theirs === undefined) {
      this.end('it does not greet as a node of walletd does');
    } else if (theirs.wire !== WIRE) {
      this.end(`it speaks version ${theirs.wire} of the protocol, this node ${WIRE}`);
    } else if (theirs.storeId !== storeId) {
      this.end(`it serves another store, ${theirs.storeId}`);
    } else if (theirs.tag === tag) {
      this.end('it is this very process');
    } else {
      this.theirs = theirs;
      if (this.side === 'listens') return;
      this.prove(theirs);
      this.reason = 'it has not taken the proof: is its cluster.secret the same?';
    }
  }

  private prove(theirs: Greeting): void {
    this.socket.send(proofOf(this.deps.secret, this.side, this.mine, theirs));
  }

  private proved(proof: string, theirs: Greeting): void {
    const other = this.side === 'dials' ? 'listens' : 'dials';
    if (!isProof(proof, this.deps.secret, other, this.mine, theirs)) {
      this.end('it does not know the secret (cluster.secret)');
      return;
    }
    if (this.side === 'listens') this.prove(theirs);
    this.reason = CLOSED;
    clearTimeout(this.timer);
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.isOpen = true;
    this.events.onOpen(this, theirs.tag);
  }
  /** Counted, and not timed: where this thread was stopped itself, one look is all that was missed. */
  private look(): void {
    if (this.silentLooks++ >= SILENT_LOOKS_MAX) this.end('it does not say anything any more');
  }
}
