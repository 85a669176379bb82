/** Ways to do the same work. One call of `run` does it `operations` times, each time on another input. */
export interface Group {
  readonly name: string;
  readonly operations: number;
  readonly cases: readonly Case[];
  /** What one would write first; the speed of the others is shown as a multiple of its. */
  readonly alternative: Case;
}

export interface Case {
  readonly name: string;
  run(): void;
}

const kept: { value: unknown } = { value: undefined };

/** Takes every result, so that the compiler does not find out that nobody wants it and leave the work out. */
export function keep(value: unknown): void {
  kept.value = value;
}
