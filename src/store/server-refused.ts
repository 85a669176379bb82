/**
 * Thrown for a server that must not be used in its current state. The message names the fault, the required value, and
 * the command that sets it.
 */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
}
