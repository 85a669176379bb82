import { get } from 'node:http';
import { get as getOverTls } from 'node:https';
import { loadSettings } from '../../config/load.js';
import { operatorApiUrl } from '../running-server.js';

const TIMEOUT_MS = 4000;
/**
 * Values that replace settings which would otherwise be required or read. The check needs only the address and the
 * port.
 */
const UNNEEDED = { WALLETD_INSECURE: 'true', WALLETD_ADMIN_TOKEN: 'none-is-needed-here', WALLETD_ADMIN_TOKEN_FILE: '' };

/**
 * HEALTHCHECK of a container image. Exits with 0 if the server of these settings is ready. Any certificate is accepted.
 */
try {
  const url = operatorApiUrl(loadSettings({ ...process.env, ...UNNEEDED }, ['signature.keys', 'store']));
  const options = { timeout: TIMEOUT_MS, rejectUnauthorized: false };
  const request = (url.startsWith('https') ? getOverTls : get)(`${url}/readyz`, options, ({ statusCode }) =>
    process.exit(statusCode === 200 ? 0 : 1),
  );
  request.on('error', () => process.exit(1)).on('timeout', () => process.exit(1));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
