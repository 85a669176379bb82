import type { RealWire } from '../wire.js';

/** A running walletd with one or more nodes, which can be disturbed. */
export interface Deployment {
  readonly wire: RealWire;
  /** Disturbs the deployment until `goesOn` returns false. The deployment is serving normally when this resolves. */
  disturb?(goesOn: () => boolean): Promise<void>;
  /** Log lines about internal errors of the servers, such as a failed assertion. */
  errors(): readonly string[];
  /** Number of disturbances so far. */
  readonly disturbances?: number;
  /** Number of keys of closed rounds in the archive. */
  archived?(): Promise<number>;
  close(): Promise<void>;
}

/** A way to run walletd. */
export interface Setting {
  readonly name: string;
  /** Number of histories played concurrently. */
  readonly senders: number;
  /** The time until a closed round leaves memory; 0 if rounds do not leave memory. */
  readonly pauseMs: number;
  start(): Promise<Deployment>;
}
