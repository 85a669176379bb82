import { UserError } from '../base/user-error.js';

/** An error for an operator API that cannot listen. Names the settings to change. */
export function cannotListen(host: string, port: number, { message }: Error): Error {
  return new UserError(`cannot listen on ${host}:${port} for the operator API (admin.host, admin.port): ${message}`);
}
