import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { certificateMetrics } from '../../src/node/metrics/certificate-metrics.js';
import { Certificates } from '../../src/node/settings/certificates.js';
import { makeCertificate } from '../support/certificate.js';
import { settingsWith } from '../support/settings.js';
import { inTempFolder } from '../support/temp-folder.js';

const DAY_MS = 86_400_000;
const withoutMs = (ms: number) => Math.floor(ms / 1000) * 1000;

test('a certificate causes a warning from 14 days before it expires', () =>
  inTempFolder(async (folder) => {
    const madeMs = withoutMs(Date.now());
    const { certificateFile, keyFile } = makeCertificate(folder, 'a.test', 30);
    const settings = settingsWith({ 'admin.tls.certificateFile': certificateFile, 'admin.tls.keyFile': keyFile });
    const at = (days: number) => new Certificates(settings, { now: () => madeMs + days * DAY_MS }).warnings();
    assert.deepEqual(at(15.9), []);
    assert.match(at(16.1)[0] ?? '', /a\.test\.crt \(admin\.tls\.certificateFile\) ends at \S+: put a new one there/);
    assert.match(at(30.1)[0] ?? '', /\(admin\.tls\.certificateFile\) ended at/);
    const [metric] = certificateMetrics(new Certificates(settings, { now: () => 0 }).ends());
    assert.equal(metric?.name, 'walletd_certificate_expiry_timestamp_seconds');
    const [series] = metric?.values ?? [];
    assert.deepEqual(series?.labels, { listener: 'operator-api' });
    const days = (Number(series?.value) * 1000 - madeMs) / DAY_MS;
    assert.ok(days >= 30 && days < 30.1, `${days} days`);
  }));

test("of a chain's certificates, the one that expires first counts", () =>
  inTempFolder(async (folder) => {
    const leaf = makeCertificate(folder, 'leaf.test', 300);
    appendFileSync(leaf.certificateFile, readFileSync(makeCertificate(folder, 'ca.test', 3).certificateFile));
    const settings = settingsWith({ 'tls.certificateFile': leaf.certificateFile, 'tls.keyFile': leaf.keyFile });
    assert.equal(new Certificates(settings, { now: () => Date.now() }).warnings().length, 1);
  }));

test('without TLS there are no warnings and no metrics', () => {
  const certificates = new Certificates(settingsWith(), { now: () => Date.now() });
  assert.deepEqual([certificates.warnings(), certificateMetrics(certificates.ends())], [[], []]);
});
