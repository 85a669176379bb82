/** The part of a final answer that the answer to a repeat must reproduce. */
export interface Answer {
  readonly statusCode: number;
  readonly balanceBefore?: number | undefined;
  readonly balanceAfter?: number | undefined;
}

export function isAccepted({ statusCode }: Answer): boolean {
  return statusCode === 0;
}

export function describeAnswer({ statusCode, balanceBefore, balanceAfter }: Answer): string {
  return statusCode === 0 ? `0 (${balanceBefore} -> ${balanceAfter})` : String(statusCode);
}
