import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import type { Event } from '../../src/wallet/event.js';
import { CALLBACKS, NOW_MS, pairs } from './callbacks.js';
import { execute, newWallet } from './decide.js';
import { type Group, keep } from './group.js';

const STORE_ID = '00000000-0000-4000-8000-000000000001';
const codec = new EntryCodec(STORE_ID);
const previous = genesisHead(STORE_ID, 0);
const header = { shard: 0, lsn: { epoch: 1, sequence: 1 }, nonce: previous.nonce, previous };

const wallet = newWallet();
const events = pairs.map((command) => execute(wallet, command)).filter((event) => event !== undefined);

function pack(events: readonly Event[]): Buffer {
  const batch = codec.beginBatch(NOW_MS);
  for (const event of events) batch.add(event);
  return batch.seal(header).bytes;
}

const packed = pack(events);
const json = Buffer.from(JSON.stringify(events));

/** JSON does less work here, because it has no header and no checksum. */
export const packing: Group = {
  name: `pack a batch of ${CALLBACKS} events`,
  operations: 1,
  cases: [{ name: `EntryCodec: ${packed.length} bytes`, run: () => keep(pack(events)) }],
  alternative: {
    name: `JSON.stringify: ${json.length} bytes`,
    run: () => keep(Buffer.from(JSON.stringify(events))),
  },
};

export const decoding: Group = {
  name: `decode a batch of ${CALLBACKS} events`,
  operations: 1,
  cases: [{ name: 'EntryCodec', run: () => keep(codec.decode(packed)) }],
  alternative: { name: 'JSON.parse', run: () => keep(JSON.parse(json.toString())) },
};
