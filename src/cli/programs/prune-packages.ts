import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Runs after an installation without developers' packages, and deletes files that no run of this Node reads: binaries for
 * other machines, and source maps. They are more than half of the installation: 130 MB are binaries of uWebSockets.js.
 * Only walletd's own folder of packages is touched; it has none where packages are shared with other programs.
 */
const PACKAGES = fileURLToPath(new URL('../../../../node_modules/', import.meta.url));

const { platform, arch, versions } = process;
const isMusl =
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime === undefined;

/** `uws_linux_x64_115.node`: platform, processor, and version of Node's binary interface. */
const isForeignHttp = (file: string) =>
  /(^|\/)uws_\w+\.node$/.test(file) && !file.endsWith(`/uws_${platform}_${arch}_${versions.modules}.node`);
/** `node.napi.musl.node` beside `node.napi.glibc.node`. */
const isForeignLibc = (file: string) => platform === 'linux' && file.endsWith(isMusl ? '.glibc.node' : '.musl.node');

for (const path of existsSync(PACKAGES) ? (readdirSync(PACKAGES, { recursive: true }) as string[]) : []) {
  if (isForeignHttp(path) || isForeignLibc(path) || path.endsWith('.map')) rmSync(join(PACKAGES, path));
}
