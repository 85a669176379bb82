import { drawHashKey } from '../node/settings/draw-hash-key.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { explain, makeProgram } from './program.js';

drawHashKey();
// Only the owner may read store files, backups and player lists. Workers and child processes inherit the mask.
process.umask(0o077);
const [called] = process.argv.slice(2);

// If standard output cannot be written, as on a full disk, a command fails, because a truncated list must not look
// complete. The server continues without its log.
if (called !== 'serve') {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(`walletd: ${error.message}`);
    process.exit(EXIT.failure);
  });
}

try {
  await (await makeProgram(called)).parseAsync();
} catch (error) {
  process.exit(explain(error));
}
