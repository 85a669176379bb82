import { createHmac, timingSafeEqual } from 'node:crypto';
import { BlockList } from 'node:net';
import { AddressList, parseAddress } from '../../src/http/address-list.js';
import { parseKeys, SignatureClaim, type SignatureKey, Signatures, sign } from '../../src/http/signature.js';
import { CALLBACKS, NOW_MS, placeBodies } from './callbacks.js';
import { type Group, keep } from './group.js';

const SECRET = 'a-secret-of-32-characters-length';
const TIMESTAMP = String(NOW_MS);
const [key] = parseKeys(`now:${SECRET}`) as [SignatureKey];
const next = parseKeys('next:another-secret-of-32-characters');
const signatures = placeBodies.map((body) => sign(key.secret, body, TIMESTAMP));
const one = new Signatures([key], 1000);
const second = new Signatures([...next, key], 1000);

function isProven(all: Signatures, n: number): boolean {
  const claim = all.claim(TIMESTAMP, signatures[n] as string, NOW_MS);
  return claim instanceof SignatureClaim && claim.isProvenBy(placeBodies[n] as Buffer);
}

export const signing: Group = {
  name: 'check the signature of a placeBets body',
  operations: CALLBACKS,
  cases: [
    {
      name: 'Signatures, one key',
      run: () => {
        for (let n = 0; n < CALLBACKS; n++) keep(isProven(one, n));
      },
    },
    {
      name: 'Signatures, the second of two keys',
      run: () => {
        for (let n = 0; n < CALLBACKS; n++) keep(isProven(second, n));
      },
    },
  ],
  alternative: {
    name: 'createHmac with the text of the key, compared as buffers',
    run: () => {
      for (let n = 0; n < CALLBACKS; n++) {
        const mac = createHmac('sha256', SECRET)
          .update(placeBodies[n] as Buffer)
          .update(`.${TIMESTAMP}`)
          .digest();
        keep(timingSafeEqual(mac, Buffer.from(signatures[n] as string, 'hex')));
      }
    },
  },
};

const NETWORKS = ['10.0.0.0/8', '192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32'];
const list = AddressList.parse(NETWORKS.join());
const texts = Array.from({ length: CALLBACKS }, (_, n) => `198.51.100.${n}`);
const addresses = Array.from({ length: CALLBACKS }, (_, n) => parseAddress(texts[n] as string) as Uint8Array);

const blockList = new BlockList();
for (const network of NETWORKS) {
  const [host = '', bits = ''] = network.split('/');
  blockList.addSubnet(host, Number(bits), host.includes(':') ? 'ipv6' : 'ipv4');
}

export const admitting: Group = {
  name: 'find an address in four networks',
  operations: CALLBACKS,
  cases: [
    {
      name: 'AddressList',
      run: () => {
        for (const address of addresses) keep(list.has(address));
      },
    },
  ],
  alternative: {
    name: 'BlockList of node:net, from text',
    run: () => {
      for (const text of texts) keep(blockList.check(text, 'ipv4'));
    },
  },
};
