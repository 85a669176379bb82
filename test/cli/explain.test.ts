import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../../src/base/user-error.js';
import { CutOffError } from '../../src/cli/cut-off-error.js';
import { explain } from '../../src/cli/program.js';
import { ConfigError } from '../../src/config/config-error.js';
import { FencedError } from '../../src/log/take-over.js';
import { StoreError } from '../../src/node/drivers/store-error.js';
import { EXIT } from '../../src/node/settings/exit-codes.js';
import { ArchiveBehindError } from '../../src/ports/archive-behind-error.js';
import { DamagedArchiveError } from '../../src/ports/damaged-archive-error.js';
import { RecoveryError } from '../../src/ports/recovery-error.js';
import { PlayersError } from '../../src/simulate/players.js';
import { FormatError } from '../../src/store/format/format-error.js';
import { OtherArchiveError } from '../../src/tools/backup/other-archive.js';
import { ToolError } from '../../src/tools/store-reader.js';

/** Exit code of a command that fails with this error, and the text that the command prints. */
function ended(error: unknown): [number, string] {
  const { error: formerError } = console;
  let printed = '';
  console.error = (text: unknown) => {
    printed += text;
  };
  try {
    return [explain(error), printed];
  } finally {
    console.error = formerError;
  }
}

const HEAD = { lsn: { epoch: 2, sequence: 1 }, nonce: '0'.repeat(16), checksum: 0 };

test('a user error is printed as one sentence and decides the exit code', () => {
  const errors: [UserError, number][] = [
    [new UserError('no'), EXIT.failure],
    [new ConfigError('no'), EXIT.usage],
    [new StoreError('no'), EXIT.failure],
    [new RecoveryError('no'), EXIT.failure],
    [new FencedError(3, HEAD), EXIT.fenced],
    [new FormatError('no'), EXIT.failure],
    [new DamagedArchiveError('no'), EXIT.failure],
    [new ArchiveBehindError('no'), EXIT.failure],
    [new ToolError('no'), EXIT.failure],
    [new CutOffError('no'), EXIT.cutOff],
    [new OtherArchiveError('no'), EXIT.otherArchive],
    [new PlayersError('no'), EXIT.cannotKnow],
  ];
  for (const [error, code] of errors) assert.deepEqual(ended(error), [code, `walletd: ${error.message}`], error.name);
});

test('a subclass with its own name is printed in the same way', () => {
  class OtherError extends StoreError {
    override readonly name: string = 'OtherError';
  }
  assert.deepEqual(ended(new OtherError('no')), [EXIT.failure, 'walletd: no']);
});

test('a system error is printed without its stack', () => {
  const error = Object.assign(new Error('EACCES: permission denied'), { syscall: 'open' });
  assert.deepEqual(ended(error), [EXIT.failure, 'walletd: EACCES: permission denied']);
});

test('any other error is a bug in walletd, printed with its stack', () => {
  const bug = new TypeError('undefined is not a function');
  assert.deepEqual(ended(bug), [EXIT.failure, `walletd: ${bug.stack}`]);
});
