/** Alternative ways to do the same work. One call of `run` does it `operations` times, each time on another input. */
export interface Group {
  readonly name: string;
  readonly operations: number;
  readonly cases: readonly Case[];
  /** The naive solution; the speed of the others is shown as a multiple of its speed. */
  readonly alternative: Case;
}

export interface Case {
  readonly name: string;
  run(): void;
}

const kept: { value: unknown } = { value: undefined };

/** Consumes every result, so that the compiler does not remove the work as unused. */
export function keep(value: unknown): void {
  kept.value = value;
}
