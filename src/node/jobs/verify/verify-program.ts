import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../../base/logger.js';
import { operatorTokens } from '../../../config/check-together.js';
import { ATTEMPTS_AT_START } from '../../../ports/retry-policy.js';
import { sourceWithRetry } from '../../../tools/source-with-retry.js';
import { OperatorApi } from '../../../tools/verify/operator-api.js';
import { reportJson, type VerifyReportJson } from '../../../tools/verify/report-json.js';
import { verify } from '../../../tools/verify/verify.js';
import { openExisting } from '../../drivers/open-store.js';
import { drawHashKey } from '../../settings/draw-hash-key.js';
import { urlOf } from '../../settings/listener-url.js';
import { readerOf } from '../../settings/reader-of.js';
import { loadTls } from '../../settings/tls.js';
import type { FromVerify, VerifyTask } from './messages.js';

const PROGRESS_MS = 200;
/** Lower priority than the server, which comes first. */
const NICE = 10;

/** Main program of the process that verifies a node's store. The process exits when the node that started it exits. */
drawHashKey();
process.once('disconnect', () => process.exit());
// The parent may have exited while this program was loading.
if (!process.connected) process.exit();
process.once('message', (task: VerifyTask) => {
  void verified(task)
    .then((report) => send({ type: 'verified', report }))
    .catch((error: Error) => send({ type: 'failed', reason: error.message }))
    .then(() => process.disconnect());
});

async function verified({ settings, adminPort, isDeep }: VerifyTask): Promise<VerifyReportJson> {
  const { store, archive, meta } = await openExisting(settings, 'read');
  // Lower the priority only after the store is open, because the checks made while opening it have a time limit of a
  // few seconds.
  setPriority(NICE);
  try {
    const retryPolicy = { attemptsMax: ATTEMPTS_AT_START, log: silentLogger, delay };
    const reader = sourceWithRetry(readerOf(store, meta, archive), retryPolicy);
    const { admin } = settings;
    const token = operatorTokens(settings)[0]?.token ?? null;
    const certificate = loadTls(admin.tls, 'admin.tls')?.certificate;
    const server = new OperatorApi(urlOf(admin.host, adminPort, admin.tls), token, certificate);
    return reportJson(await verify(reader, { isDeep, server, onProgress: progress() }), reader.scales);
  } finally {
    await archive?.close();
    await store.close();
  }
}

/** Reports progress at regular intervals. */
function progress(): (done: number, total: number) => void {
  let nextMs = 0;
  return (done, total) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_MS;
    void send({ type: 'progress', done, total });
  };
}

/** Resolves once the channel has accepted the message. */
function send(message: FromVerify): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}
