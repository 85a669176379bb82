/**
 * A server that must not be used in its present state. The message states the fault, the wanted value, and how to set
 * it.
 */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
}
