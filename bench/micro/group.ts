/**
 * Alternative implementations of the same work. One call of `run` does it `operations` times, each time on a different
 * input.
 */
export interface Group {
  readonly name: string;
  readonly operations: number;
  readonly cases: readonly Case[];
  /** The naive solution. The speed of the other cases is shown as a multiple of its speed. */
  readonly alternative: Case;
}

export interface Case {
  readonly name: string;
  run(): void;
}

const kept: { value: unknown } = { value: undefined };

/** Uses every result, so that the compiler cannot remove the work as dead code. */
export function keep(value: unknown): void {
  kept.value = value;
}
