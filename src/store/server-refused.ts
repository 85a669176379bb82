/** A server that must not be used as it is. The message says what is wrong, what it should be, and how to set it. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
}
