import { Packr } from 'msgpackr';
import type { RawData, WebSocket } from 'ws';
import { messageOf } from '../base/message-of.js';
import type { PeerMessage } from '../cluster/peer-protocol.js';
import { ForgedFrame } from './encrypted-channel.js';
import type { Frame, Handshake, Heard, Proven } from './handshake.js';

const HELLO_MS = 2000;
const HELLO_BYTES_MAX = 1024;
/**
 * Interval between checks for silence. A peer sends at least five messages a second. TCP alone would report a dead or
 * disconnected machine only after minutes.
 */
const LOOK_MS = 1000;
const SILENT_LOOKS_MAX = 3;
const CLOSED = 'the connection was closed';
/** A peer that leaves this many bytes unread counts as disconnected. */
const BUFFERED_MAX = 64 * 1024 * 1024;

export interface LinkEvents {
  /** The peer has proved that it is a member. */
  onOpen(link: PeerLink, peer: Proven): void;
  onMessage(tag: string, message: PeerMessage): void;
  /** A frame that arrived on an open link was not made by the peer, so it comes from a relay between the ends. */
  onForged(tag: string): void;
  /** `tag` is the peer's tag once the peer has proved that it is a member. `reason` is human-readable. */
  onClose(link: PeerLink, tag: string | undefined, reason: string): void;
}

/** One connection to a peer: a handshake, then messages, one per frame. */
export class PeerLink {
  private readonly packr = new Packr({ useRecords: false, moreTypes: true });
  private peer: Proven | undefined = undefined;
  private reason = CLOSED;
  private hasEnded = false;
  /** Number of consecutive checks since the last frame arrived. */
  private silentLooks = 0;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly socket: WebSocket,
    private readonly handshake: Handshake,
    private readonly events: LinkEvents,
  ) {
    this.timer = setTimeout(() => this.end('it sent no hello in time'), HELLO_MS);
    socket.on('message', (data, isBytes) => this.receive(data, isBytes));
    socket.on('error', (error) => {
      this.reason = error.message;
    });
    socket.on('close', () => {
      this.hasEnded = true;
      clearTimeout(this.timer);
      events.onClose(this, this.peer?.tag, this.reason);
    });
    if (socket.readyState === socket.OPEN) this.sendAll(handshake.opening);
    else socket.on('open', () => this.sendAll(handshake.opening));
  }

  /** Returns false if the message cannot be sent. */
  send(message: PeerMessage): boolean {
    if (this.peer === undefined || this.hasEnded || this.socket.readyState !== this.socket.OPEN) return false;
    if (this.socket.bufferedAmount > BUFFERED_MAX) {
      this.end('it does not read the data sent to it');
      return false;
    }
    this.socket.send(this.peer.channel.encrypt(this.packr.pack(message)));
    return true;
  }

  end(reason: string): void {
    this.reason = reason;
    this.hasEnded = true;
    this.socket.terminate();
  }

  private sendAll(frames: readonly Frame[]): void {
    for (const frame of frames) this.socket.send(frame);
  }

  private receive(data: RawData, isBytes: boolean): void {
    // Ignore frames that were read together with the one that ended the link.
    if (this.hasEnded) return;
    const bytes = data as Buffer;
    this.silentLooks = 0;
    try {
      if (this.peer !== undefined) this.opened(bytes, isBytes, this.peer);
      else if (bytes.length > HELLO_BYTES_MAX) this.end('it did not send a hello first');
      else this.heard(this.handshake.hear(bytes, isBytes));
    } catch (error) {
      this.end(messageOf(error));
    }
  }

  private heard({ send, hasProved, proven, refusal }: Heard): void {
    this.sendAll(send);
    if (hasProved) this.reason = 'it did not accept the proof: is its cluster.secret the same?';
    if (refusal !== undefined) {
      this.reason = refusal;
      this.hasEnded = true;
      // The peer closes the connection once it has read the last frame. If it does not, the timer ends the connection.
      this.socket.close();
    } else if (proven !== undefined) {
      this.reason = CLOSED;
      clearTimeout(this.timer);
      this.timer = setInterval(() => this.look(), LOOK_MS);
      this.peer = proven;
      this.events.onOpen(this, proven);
    }
  }

  private opened(frame: Buffer, isBytes: boolean, { tag, channel }: Proven): void {
    let message: PeerMessage;
    try {
      if (!isBytes) throw new ForgedFrame('it sent a text frame');
      message = this.packr.unpack(channel.decrypt(frame));
    } catch (error) {
      if (error instanceof ForgedFrame) this.events.onForged(tag);
      throw new Error(`it sent an unreadable frame: ${messageOf(error)}`);
    }
    this.events.onMessage(tag, message);
  }

  /** Ends a silent link. Counts checks instead of time, so that a pause of this thread costs at most one check. */
  private look(): void {
    if (this.silentLooks++ >= SILENT_LOOKS_MAX) this.end('it has stopped sending');
  }
}
