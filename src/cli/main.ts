import { drawHashKey } from '../node/draw-hash-key.js';
import { EXIT } from '../node/exit-codes.js';
import { explain, makeProgram } from './program.js';

drawHashKey();
// Only their owner may read the files of the store, backups and lists of players. Workers and child processes inherit
// the mask.
process.umask(0o077);
const [called] = process.argv.slice(2);

// A list that a full disk cut short must not look complete. A server goes on without its log.
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
