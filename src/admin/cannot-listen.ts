/** Error for an operator API that cannot listen. Names the settings to change. */
export function cannotListen(host: string, port: number, { message }: Error): Error {
  return new Error(`cannot listen on ${host}:${port} for the operator API (admin.host, admin.port): ${message}`);
}
