import type { AdminObserver, ClusterService, OverviewSource, VerifyService } from '../../admin/admin-deps.js';
import { AdminServer } from '../../admin/admin-server.js';
import type { SignedOutSessions } from '../../admin/console/signed-out-sessions.js';
import { systemClock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { CallbackCodec } from '../../callback/callback-codec.js';
import { statusCodesOf } from '../../callback/failures.js';
import { operatorTokens } from '../../config/check-together.js';
import { meaningOf, type RunningSettings } from '../../config/in-force.js';
import type { Settings } from '../../config/schema.js';
import type { CallbackService } from '../../http/callback-deps.js';
import { CallbackLog } from '../../http/callback-log.js';
import type { CallbackObserver } from '../../http/callback-observer.js';
import { CallbackServer } from '../../http/callback-server.js';
import type { CallbackTracer } from '../../http/callback-trace.js';
import type { Callers } from '../../http/callers.js';
import type { HttpLibrary } from '../../http/http-port.js';
import type { ConnectionCounts } from '../../listener/connection-counts.js';
import type { StoreMeta } from '../../store/meta.js';
import type { WalletService } from '../../threads/wallet-service.js';
import { ScaleTable } from '../../wallet/amount.js';
import type { Endpoint } from '../../wallet/command.js';
import { FeedProcess } from '../jobs/feed/feed-process.js';
import type { KeptSnapshots } from '../jobs/kept-snapshots.js';
import { StoreSearches } from '../jobs/store-searches.js';
import { amountLimitsOf } from '../settings/amount-limits.js';
import { affordableConnections } from '../settings/open-files.js';
import { isStrict } from '../settings/rules.js';
import type { Tls } from '../settings/tls.js';
import { VERSION } from '../settings/version.js';
import { isShared, nameOf } from './make-cluster.js';
import { openapiDocument } from './openapi.js';

export interface CallbackServerDeps {
  readonly tls: Tls | undefined;
  readonly callers: Callers;
  readonly aliases: ReadonlyMap<string, Endpoint>;
  readonly codec: CallbackCodec;
  readonly service: CallbackService;
  readonly observer: CallbackObserver;
  readonly counts: ConnectionCounts;
  readonly tracer: CallbackTracer | undefined;
  readonly library: HttpLibrary;
  readonly meta: StoreMeta;
  readonly log: Logger;
}

/** Creates the platform's listener without opening it. */
export function makeCallbackServer(settings: Settings, deps: CallbackServerDeps): CallbackServer {
  const { tls, callers, aliases, codec, service, observer, counts, tracer, library, meta, log } = deps;
  const { host, port, requestDeadlineMs, limits } = settings;
  const connectionsMax = affordableConnections(limits.connectionsMax);
  if (connectionsMax < limits.connectionsMax) {
    const at = { connectionsMax, connectionsWanted: limits.connectionsMax, todo: 'raise `ulimit -n`' };
    log.warn({ code: 'connections-lowered', ...at }, 'limits.connectionsMax lowered to the open-file limit');
  }
  return new CallbackServer(
    {
      settings: { host, port, requestDeadlineMs, ...limits, connectionsMax, aliases, tls },
      codec,
      service,
      clock: systemClock,
      observer,
      counts,
      tracer,
      log: new CallbackLog(settings.log, log, new ScaleTable(meta.scales), statusCodesOf(settings.statusCodes.closed)),
    },
    callers,
    library,
    log,
  );
}

export interface AdminServerDeps {
  readonly tls: Tls | undefined;
  readonly service: WalletService;
  readonly cluster: ClusterService | undefined;
  readonly observer: AdminObserver;
  readonly counts: ConnectionCounts;
  readonly scrape: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly overview: OverviewSource;
  readonly verifier: VerifyService;
  readonly running: RunningSettings;
  readonly keptSnapshots: KeptSnapshots;
  readonly signedOut: SignedOutSessions;
  /** Undefined on a node without a cluster. */
  readonly hasFeeds: (() => Promise<boolean>) | undefined;
  readonly meta: StoreMeta;
  readonly log: Logger;
}

/** Creates the operators' listener without opening it. */
export function makeAdminServer(settings: Settings, deps: AdminServerDeps): AdminServer {
  const { tls, service, cluster, observer, counts, scrape, overview, verifier, running, signedOut, meta, log } = deps;
  const { admin, limits } = settings;
  const scales = new ScaleTable(meta.scales);
  return new AdminServer({
    settings: {
      host: admin.host,
      port: admin.port,
      tokens: operatorTokens(settings),
      tls,
      storeId: meta.storeId,
      restoredFrom: meta.restoredFrom ?? [],
      scales,
      amountLimits: amountLimitsOf(settings, scales),
      handMaxima: settings.money.byHand,
      importLinesMax: limits.importLinesMax,
      idleMs: limits.idleSeconds * 1000,
    },
    service,
    searcher: new StoreSearches(settings),
    feeds: new FeedProcess(settings, log, deps.hasFeeds),
    cluster,
    observability: {
      metrics: scrape,
      openapi: (paths, schemas) =>
        openapiDocument({ ...settings, isStrict: isStrict(settings, meta) }, VERSION, paths, schemas),
    },
    overview,
    verifier,
    settingsInForce: () => ({
      node: isShared(settings) ? nameOf(settings) : null,
      settings: running.all().map((one) => ({ ...one, meaning: meaningOf(one.setting) })),
    }),
    keptSnapshots: () => deps.keptSnapshots.list(),
    observer,
    signedOut,
    counts,
    clock: systemClock,
    log,
  });
}
