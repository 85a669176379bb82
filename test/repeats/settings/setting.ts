import type { RealWire } from '../wire.js';

/** A running walletd, or several nodes of one, and the disturbances that it is under. */
export interface Deployment {
  readonly wire: RealWire;
  /** Disturbs the deployment until `goesOn` returns false; afterwards the deployment serves undisturbed. */
  disturb?(goesOn: () => boolean): Promise<void>;
  /** Lines of the servers' logs that tell a failure of their own, such as an assertion. */
  errors(): readonly string[];
  /** Disturbances so far. */
  readonly disturbances?: number;
  /** Names that closed rounds have in the archive. */
  archived?(): Promise<number>;
  close(): Promise<void>;
}

/** A way to run walletd. */
export interface Setting {
  readonly name: string;
  /** Histories that are played at a time. */
  readonly lanes: number;
  /** Time that a closed round needs to leave memory; 0 where none leaves. */
  readonly pauseMs: number;
  start(): Promise<Deployment>;
}
