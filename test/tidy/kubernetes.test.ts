import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { loadSettings } from '../../src/config/load.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { ROOT } from './pages.js';

/*
 * Checks the manifests in config/kubernetes/ against each other and against the settings. The only maintained package
 * with Kubernetes' schemas (kubernetes-models) adds 30 MB, and its releases of 2026 do not run on Node 20.
 */

interface Named {
  readonly name: string;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container extends Named {
  readonly args: readonly string[];
  readonly env: readonly (Named & { readonly value?: string })[];
  readonly ports: readonly (Named & { readonly containerPort: number })[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[];
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly containers: readonly [Container];
  readonly volumes: readonly (Named & {
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
  })[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Named;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly serviceName?: string;
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly maxUnavailable?: number;
    readonly replicas?: number;
    readonly selector: unknown;
    readonly ports?: readonly (Named & { readonly port: number; readonly targetPort: string })[];
    readonly podSelector?: { readonly matchLabels: unknown };
    readonly ingress?: readonly {
      readonly from?: readonly { readonly podSelector: unknown }[];
      readonly ports: readonly { readonly port: string }[];
    }[];
    readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[];
  };
}

const FOLDER = join(ROOT, 'config/kubernetes');
/** API versions that are available in Kubernetes from 1.21 up to today's release. */
const API_VERSIONS: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  StatefulSet: 'apps/v1',
  Job: 'batch/v1',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
};
/** The time that a stop takes in addition to `cluster.drainSeconds`. */
const STOP_MAX_SECONDS = 10;

const manifests = readdirSync(FOLDER).flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'), { version: '1.1', strict: true }).map((document) => {
    assert.deepEqual(document.errors, [], file);
    return document.toJS() as Manifest;
  }),
);

function one(kind: string, name = 'walletd'): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.equal(found.length, 1, `${kind} ${name}`);
  return found[0] as Manifest;
}

const statefulSet = one('StatefulSet').spec;
const pod = statefulSet.template.spec;
const [container] = pod.containers;
const secrets = one('Secret', 'walletd-secrets').stringData ?? {};
const settingsText = one('ConfigMap', 'walletd-settings').data?.['walletd.json'] ?? '';

/** The first pod's settings, with the sample's secrets. */
function settingsOfPod() {
  const folder = makeTempFolder();
  try {
    const path = join(folder.path, 'walletd.json');
    writeFileSync(path, settingsText);
    const env = container.env.map(({ name, value = 'walletd-0' }) => [name, value.replace('$(POD_NAME)', 'walletd-0')]);
    const { POD_NAME: _, ...ours } = Object.fromEntries(env) as Record<string, string>;
    return loadSettings({
      ...ours,
      WALLETD_CONFIG: path,
      WALLETD_STORE: secrets.store,
      WALLETD_SIGNATURE_KEYS: secrets['signature-keys'],
      WALLETD_ADMIN_TOKEN: secrets['operator-token'],
      WALLETD_CLUSTER_SECRET: secrets['cluster-secret'],
    });
  } finally {
    folder.remove();
  }
}

test('each manifest has a served API version and a unique name', () => {
  assert.ok(manifests.length >= 8);
  for (const { kind, apiVersion } of manifests) assert.equal(apiVersion, API_VERSIONS[kind], kind);
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  assert.equal(new Set(names).size, names.length);
});

test("the sample's settings are accepted and reference only mounted files", () => {
  const settings = settingsOfPod();
  assert.equal(settings.cluster.name, 'walletd-0');
  assert.equal(settings.cluster.expect, statefulSet.replicas);
  const files = [...settingsText.matchAll(/"\/run\/secrets\/walletd\/([^"]+)"/g)].map(([, file]) => file as string);
  assert.deepEqual(files.sort(), Object.keys(secrets).sort());
});

test('container ports and services match the settings', () => {
  const { port, admin, health, cluster } = settingsOfPod();
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  assert.deepEqual(ports, { callbacks: port, operators: admin.port, health: health.port, peers: cluster.port });
  for (const { kind, spec } of manifests) {
    if (kind !== 'Service') continue;
    assert.deepEqual(spec.selector, statefulSet.template.metadata.labels);
    for (const { port, targetPort } of spec.ports ?? []) assert.equal(port, ports[targetPort]);
  }
});

test('peers reach a node by its service name even before it is ready', () => {
  const { spec, metadata } = one('Service', statefulSet.serviceName);
  assert.equal(spec.clusterIP, 'None');
  assert.equal(spec.publishNotReadyAddresses, true);
  assert.equal(settingsOfPod().cluster.advertise, `walletd-0.${metadata.name}:${settingsOfPod().cluster.port}`);
});

test('no Kubernetes service variable collides with a setting', () => {
  for (const { kind, spec } of manifests) {
    if (kind === 'StatefulSet' || kind === 'Job') assert.equal(spec.template.spec.enableServiceLinks, false, kind);
  }
});

test('probes use the health paths, and a stop has enough time', () => {
  assert.deepEqual(container.livenessProbe.httpGet, { path: '/livez', port: 'health' });
  assert.deepEqual(container.readinessProbe.httpGet, { path: '/readyz', port: 'health' });
  const { drainSeconds } = settingsOfPod().cluster;
  assert.ok(pod.terminationGracePeriodSeconds >= drainSeconds + STOP_MAX_SECONDS);
});

test('every mount refers to a volume, and every written path is mounted', () => {
  for (const { kind, spec } of manifests) {
    if (kind !== 'StatefulSet' && kind !== 'Job') continue;
    const { volumes, containers } = spec.template.spec;
    const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
    for (const { configMap, secret } of volumes) {
      if (configMap !== undefined) one('ConfigMap', configMap.name);
      if (secret !== undefined) one('Secret', secret.secretName);
    }
    const known = [...volumes.map(({ name }) => name), ...claims];
    for (const { name } of containers[0].volumeMounts) assert.ok(known.includes(name), `${kind}: ${name}`);
    assert.equal(containers[0].securityContext.readOnlyRootFilesystem, true);
  }
  const { mountPath } = container.volumeMounts.find(({ name }) => name === 'node') ?? { mountPath: 'nowhere' };
  assert.ok(settingsOfPod().nodeFolder.startsWith(`${mountPath}/`));
});

test('only nodes can reach the peer port, and they have a secret', () => {
  const { podSelector, ingress = [] } = one('NetworkPolicy').spec;
  assert.deepEqual(podSelector, statefulSet.selector);
  const ports = ingress.map((rule) => rule.ports.map(({ port }) => port));
  assert.deepEqual(ports.flat().sort(), container.ports.map(({ name }) => name).sort());
  assert.deepEqual(ingress[ports.findIndex((some) => some.includes('peers'))]?.from, [{ podSelector }]);
  assert.ok(settingsOfPod().cluster.secret);
});

test('a disruption affects one node at a time, and is never blocked', () => {
  const budget = one('PodDisruptionBudget').spec;
  assert.equal(budget.maxUnavailable, 1);
  assert.deepEqual(budget.selector, statefulSet.selector);
  assert.equal(container.resources.limits.cpu, undefined);
});

test("the Dockerfile exposes the container's ports", () => {
  const exposed = /^EXPOSE (.*)$/m
    .exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1]
    ?.split(' ')
    .map(Number);
  assert.deepEqual(
    exposed,
    container.ports.map(({ containerPort }) => containerPort),
  );
});
