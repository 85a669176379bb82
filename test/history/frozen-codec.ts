/*
 * The part of a release that reads and writes stored bytes. `freeze.ts` compiles it into one file without dependencies,
 * so that the bytes of later releases can be read by the code of this one.
 */
export { Packr } from 'msgpackr';
export { atOnce } from '../../src/base/steps.js';
export { isKnownMessage } from '../../src/cluster/known-messages.js';
export { decodeRecord, encodeRecord } from '../../src/store/format/archive-record.js';
export { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
export { FormatGate, STORE_FORMAT } from '../../src/store/format/format-gate.js';
export { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
export { decodeMeta, encodeMeta } from '../../src/store/meta.js';
export { NodeRecord } from '../../src/store/node-record.js';
export { checkBackup, framesOfFile } from '../../src/tools/backup/backup-reader.js';
export { BackupWriter } from '../../src/tools/backup/backup-writer.js';
export { apply } from '../../src/wallet/apply.js';
export { checkWallet } from '../../src/wallet/invariants.js';
export { Wallets } from '../../src/wallet/state/wallets.js';
