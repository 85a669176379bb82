import { isLoopback, operatorTokens } from '../../config/check-together.js';
import type { Settings } from '../../config/schema.js';
import { describeCallers, LOCAL_PROGRAMS } from './callers.js';
import { urlOf } from './listener-url.js';

export interface ListenerPorts {
  readonly callbackPort: number;
  readonly adminPort: number;
  /** The port of the listener for load balancers; undefined if there is none. */
  readonly healthPort: number | undefined;
}

export interface DescribedListener {
  readonly listener: 'callbacks' | 'operator API' | 'health' | 'nodes';
  readonly url: string;
  /** A human-readable description of the allowed callers. */
  readonly callers: string;
}

/** The address and allowed callers of each listener, for the startup log. */
export function describeListeners(settings: Settings, ports: ListenerPorts): readonly DescribedListener[] {
  const { host, tls, admin, health, cluster } = settings;
  return [
    { listener: 'callbacks', url: urlOf(host, ports.callbackPort, tls), callers: describeCallers(settings) },
    {
      listener: 'operator API',
      url: urlOf(admin.host, ports.adminPort, admin.tls),
      callers: describeOperators(settings),
    },
    ...(ports.healthPort === undefined
      ? []
      : [
          {
            listener: 'health' as const,
            url: `http://${health.host}:${ports.healthPort}`,
            callers: isLoopback(health.host)
              ? 'this machine'
              : 'all callers; it reports only whether walletd is live and ready',
          },
        ]),
    ...(cluster.port === null
      ? []
      : [
          {
            listener: 'nodes' as const,
            url: urlOf(cluster.host, cluster.port, cluster.tls),
            callers: cluster.secret === null ? 'processes of this machine' : 'nodes that know cluster.secret',
          },
        ]),
  ];
}

function describeOperators(settings: Settings): string {
  const names = operatorTokens(settings).map(({ name, role }) => `${name} (${role})`);
  return names.length === 0 ? `browsers and ${LOCAL_PROGRAMS}` : `operators with the token of ${names.join(', ')}`;
}
