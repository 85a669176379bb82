import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Runs after an installation without developer packages. Deletes files that this Node never reads: binaries for other
 * machines, and source maps. These files are more than half of the installation, with 130 MB of uWebSockets.js binaries
 * alone. Changes only walletd's own package folder, which does not exist if packages are shared with other programs.
 */
const PACKAGES = fileURLToPath(new URL('../../../../node_modules/', import.meta.url));

const { platform, arch, versions } = process;
const isMusl =
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime === undefined;

/** `uws_linux_x64_115.node`: platform, processor, and version of Node's binary interface. */
const isForeignHttp = (file: string) =>
  /(^|\/)uws_\w+\.node$/.test(file) && !file.endsWith(`/uws_${platform}_${arch}_${versions.modules}.node`);
/** `node.napi.musl.node` next to `node.napi.glibc.node`. */
const isForeignLibc = (file: string) => platform === 'linux' && file.endsWith(isMusl ? '.glibc.node' : '.musl.node');

for (const path of existsSync(PACKAGES) ? (readdirSync(PACKAGES, { recursive: true }) as string[]) : []) {
  if (isForeignHttp(path) || isForeignLibc(path) || path.endsWith('.map')) rmSync(join(PACKAGES, path));
}
