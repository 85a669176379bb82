import { openEnvironment } from './environment.js';

// A program of its own: to open an environment takes the lock of the store once. See `awaitLock`.
openEnvironment(process.argv[2] as string);
