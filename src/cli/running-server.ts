import type { Alert, Backup } from '../admin/console/overview.js';
import { operatorTokens } from '../config/check-together.js';
import type { Settings } from '../config/schema.js';
import { activeAlerts } from '../node/overview/active-alerts.js';
import { judgedOf } from '../node/overview/scraped.js';
import { urlOf } from '../node/settings/listener-url.js';
import { loadTls } from '../node/settings/tls.js';
import { Samples } from '../tools/status/samples.js';
import { type Facts, factsOf } from '../tools/status/status.js';
import { OperatorApi } from '../tools/verify/operator-api.js';

/** Timeout of requests for which an operator waits at the terminal. */
export const ANSWER_MS = 5000;

/** The configured server, whatever store it serves; undefined if nothing answers within five seconds. */
export async function answeringServer(settings: Settings): Promise<OperatorApi | undefined> {
  const { port, tls } = settings.admin;
  if (port === 0) return undefined;
  const certificate = loadTls(tls, 'admin.tls')?.certificate;
  const api = new OperatorApi(operatorApiUrl(settings), tokenForTools(settings), certificate, ANSWER_MS);
  return (await api.answers()) ? api : undefined;
}

/** Reads the status that a server reports, and derives the alerts from it, worst first. */
export async function look(
  api: OperatorApi,
  backup: Backup,
): Promise<{ readonly facts: Facts; readonly troubles: readonly Alert[] }> {
  // Send both requests at once, so that a hanging server is reported after a single timeout.
  const [readiness, text] = await Promise.all([api.readiness(), api.metrics()]);
  const samples = new Samples(text);
  const nowMs = Date.now();
  const alerts = activeAlerts(judgedOf(samples, readiness, backup), samples, nowMs);
  return { facts: factsOf(samples, readiness, nowMs), troubles: alerts };
}

/** The configured server, if it answers and serves this store. A different walletd may be listening on the port. */
export async function findRunningServer(settings: Settings, storeId: string): Promise<OperatorApi | undefined> {
  const found = await findServer(settings);
  return found?.storeId === storeId ? found.server : undefined;
}

/** The server of this store, or of a store that was restored from it. */
export interface ServerOfPlayers {
  readonly server: OperatorApi;
  /** True if the server serves the restored store, which has later events that this store lacks. */
  readonly isLater: boolean;
}

/**
 * Like `findRunningServer`, but also finds the server of a store that was restored from this one, because it has the
 * same players.
 */
export async function findServerOfPlayers(settings: Settings, storeId: string): Promise<ServerOfPlayers | undefined> {
  const found = await findServer(settings);
  if (found === undefined) return undefined;
  const isLater = found.storeId !== storeId;
  return isLater && !found.restoredFrom.includes(storeId) ? undefined : { server: found.server, isLater };
}

/** The configured server and its store; undefined if nothing answers, or if a different program answers. */
async function findServer(settings: Settings) {
  const { port, tls } = settings.admin;
  if (port === 0) return undefined;
  const certificate = loadTls(tls, 'admin.tls')?.certificate;
  const api = new OperatorApi(operatorApiUrl(settings), tokenForTools(settings), certificate);
  const store = (await api.answers()) ? await api.store() : undefined;
  return store && { ...store, server: api };
}

export function operatorApiUrl({ admin: { host, port, tls } }: Settings): string {
  return urlOf(host, port, tls);
}

/** The token that commands use to call the server: one of those that may do the most. */
export function tokenForTools(settings: Settings): string | null {
  const tokens = operatorTokens(settings);
  const byRights = ['operate', 'read', 'monitor'].map((wanted) => tokens.find(({ role }) => role === wanted));
  return byRights.find((token) => token !== undefined)?.token ?? null;
}
