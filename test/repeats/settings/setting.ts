import type { RealWire } from '../wire.js';

/** A running walletd, or several nodes of one, and the trouble around it. */
export interface Place {
  readonly wire: RealWire;
  /** Troubles the place until `goesOn` says no; the place serves undisturbed afterwards. */
  trouble?(goesOn: () => boolean): Promise<void>;
  /** Lines of the servers' logs that tell a failure of their own, such as an assertion. */
  errors(): readonly string[];
  /** Troubles so far. */
  readonly troubles?: number;
  /** Names that closed rounds have in the archive. */
  archived?(): Promise<number>;
  close(): Promise<void>;
}

/** One way to run walletd. */
export interface Setting {
  readonly name: string;
  /** Histories that are played at a time. */
  readonly lanes: number;
  /** As long as a closed round needs to leave memory; 0 where none leaves. */
  readonly restMs: number;
  start(): Promise<Place>;
}
