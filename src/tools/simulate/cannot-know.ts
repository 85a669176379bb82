/** Says why a history could not be played to its end. The operator is not to blame. */
export class CannotKnow extends Error {
  override readonly name = 'CannotKnow';
}

/** The operator does not serve the endpoint. */
export class NotServed extends CannotKnow {
  constructor(readonly path: string) {
    super(`${path} is not served`);
  }
}
