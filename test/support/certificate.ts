import { spawnSync } from 'node:child_process';
import { isIP } from 'node:net';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** Creates a self-signed certificate for `name`, a host name or an IP address, in this folder. */
export function makeCertificate(folder: string, name: string, days = 2, key: 'ec' | 'rsa' = 'ec'): CertificateFiles {
  const certificateFile = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  const { status, stderr } = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      ...(key === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['rsa:2048']),
      '-nodes',
      '-days',
      String(days),
    ].concat([
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`,
      '-keyout',
      keyFile,
      '-out',
      certificateFile,
    ]),
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { certificateFile, keyFile };
}
