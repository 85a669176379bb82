/** Says why a history could not be played to its end. It is nothing that the operator is blamed for. */
export class CannotKnow extends Error {
  override readonly name = 'CannotKnow';
}

/** An endpoint is not there. */
export class NotServed extends CannotKnow {
  constructor(readonly path: string) {
    super(`${path} is not served`);
  }
}
