import type { RealWire } from '../wire.js';

/** A running walletd of one or several nodes, and the disturbances on it. */
export interface Deployment {
  readonly wire: RealWire;
  /** Disturbs the deployment until `goesOn` returns false; afterwards the deployment serves undisturbed. */
  disturb?(goesOn: () => boolean): Promise<void>;
  /** Lines of the servers' logs about failures of their own, such as an assertion. */
  errors(): readonly string[];
  /** Disturbances so far. */
  readonly disturbances?: number;
  /** Number of names of closed rounds in the archive. */
  archived?(): Promise<number>;
  close(): Promise<void>;
}

/** A way to run walletd. */
export interface Setting {
  readonly name: string;
  /** Histories played concurrently. */
  readonly lanes: number;
  /** Time that a closed round needs to leave memory; 0 where none leaves. */
  readonly pauseMs: number;
  start(): Promise<Deployment>;
}
