import { loadSettings } from '../config/load.js';
import { OperatorApi } from '../restore/operator-api.js';
import { operatorApiUrl } from './running-server.js';
import { maybeTls } from './tls.js';

/** For the HEALTHCHECK of an image: ends with 0 when the server of these settings is ready. */
const settings = loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
const certificate = maybeTls(settings.admin.tls, 'admin.tls')?.certificate;
process.exitCode = (await new OperatorApi(operatorApiUrl(settings), null, certificate).isReady()) ? 0 : 1;
