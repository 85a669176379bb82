import type { Settings } from '../config/schema.js';
import { OperatorApi } from '../restore/operator-api.js';

/** The server of these settings, if it answers. */
export async function maybeRunningServer({ admin }: Settings): Promise<OperatorApi | undefined> {
  const { host, port, token } = admin;
  if (port === 0) return undefined;
  const api = new OperatorApi(`http://${host.includes(':') ? `[${host}]` : host}:${port}`, token);
  return (await api.answers()) ? api : undefined;
}
