/** Explains why a history could not be played to its end, through no fault of the operator. */
export class CannotKnow extends Error {
  override readonly name = 'CannotKnow';
}

/** The run was ended before the history. */
export class Stopped extends CannotKnow {}

/** The operator does not serve the endpoint. */
export class NotServed extends CannotKnow {
  constructor(readonly path: string) {
    super(`${path} is not served`);
  }
}
