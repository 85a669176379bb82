import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runWalletd } from '../support/walletd-process.js';

const MIB = 1024 * 1024;

test('a heap too small for its workers stops the start, in one sentence', () => {
  const { status, stderr } = runWalletd(['serve'], {
    WALLETD_MEMORY_MAX_BYTES: String(192 * MIB),
    WALLETD_WORKERS: '2',
    WALLETD_STORE: 'lmdb:/nowhere/at/all',
  });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^walletd: memory.maxBytes leaves 72 MiB to each of 2 workers, and each needs 128: raise it, or take fewer\n$/,
  );
});
