import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import type { Settings } from '../../config/schema.js';
import { loadTls, type Tls } from './tls.js';

const DAY_MS = 86_400_000;
/** Warns this long before a certificate expires, which is enough time even for a renewal with paperwork. */
const SOON_MS = 14 * DAY_MS;

/** Listeners that can have a certificate, named after their settings. */
const LISTENERS = ['tls', 'admin.tls', 'cluster.tls'] as const;
type Listener = (typeof LISTENERS)[number];

type ByListener<T> = Readonly<Record<Listener, T>>;
type TlsSettings = Pick<Settings, 'tls' | 'admin' | 'cluster'>;

/**
 * Watches the listeners' certificates. Detects those that expire soon, and new certificates in the configured files.
 */
export class Certificates {
  /** Certificates that are in use; undefined for a listener without TLS. */
  private readonly served: Record<Listener, Tls | undefined>;

  /** Throws a `ConfigError` if a certificate cannot be used. */
  constructor(
    private readonly settings: TlsSettings,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.served = {
      tls: this.read('tls'),
      'admin.tls': this.read('admin.tls'),
      'cluster.tls': this.read('cluster.tls'),
    };
  }

  get callbacks(): Tls | undefined {
    return this.served.tls;
  }

  get admin(): Tls | undefined {
    return this.served['admin.tls'];
  }

  get nodes(): Tls | undefined {
    return this.served['cluster.tls'];
  }

  /** A warning for each certificate that has expired or will expire soon. */
  warnings(): string[] {
    return LISTENERS.flatMap(
      (listener) => findCertificateWarning(this.served[listener], listener, this.clock.now()) ?? [],
    );
  }

  warn(log: Logger): void {
    for (const warning of this.warnings())
      log.warn({ code: 'certificate-ends', reason: warning }, 'certificate expires soon or has expired');
  }

  /**
   * Passes changed certificates to their listeners. If a new certificate is unusable, logs the error and keeps the old
   * one in use.
   */
  readAgain(serve: ByListener<(tls: Tls) => void>, log: Logger): void {
    for (const listener of LISTENERS) {
      try {
        const former = this.served[listener];
        const tls = this.read(listener);
        if (former === undefined || tls === undefined || isSame(former, tls)) continue;
        serve[listener](tls);
        this.served[listener] = tls;
        const { certificateFile, endsMs } = tls;
        log.info({ certificateFile, ends: new Date(endsMs).toISOString() }, 'certificate reloaded');
      } catch (error) {
        log.error(
          { code: 'certificate-not-reloaded', error: messageOf(error) },
          'certificate reload failed, keeping the current one',
        );
      }
    }
    this.warn(log);
  }

  /** The expiry time of each listener's certificate. */
  ends(): readonly { readonly listener: string; readonly endsMs: number }[] {
    return LISTENERS.flatMap((listener) => {
      const tls = this.served[listener];
      return tls === undefined ? [] : [{ listener: LABELS[listener], endsMs: tls.endsMs }];
    });
  }

  private read(listener: Listener): Tls | undefined {
    const { tls, admin, cluster } = this.settings;
    return loadTls({ tls, 'admin.tls': admin.tls, 'cluster.tls': cluster.tls }[listener], listener);
  }
}

const LABELS: ByListener<string> = { tls: 'callbacks', 'admin.tls': 'operator-api', 'cluster.tls': 'nodes' };

function findCertificateWarning(tls: Tls | undefined, listener: Listener, nowMs: number): string | undefined {
  if (tls === undefined || tls.endsMs - nowMs > SOON_MS) return undefined;
  const predicate = tls.endsMs <= nowMs ? 'ended' : 'ends';
  const when = new Date(tls.endsMs).toISOString();
  return `${tls.certificateFile} (${listener}.certificateFile) ${predicate} at ${when}: put a new one there, and send SIGHUP`;
}

function isSame(one: Tls, other: Tls): boolean {
  return one.certificate.equals(other.certificate) && one.key.equals(other.key);
}
