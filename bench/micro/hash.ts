import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { hashString } from '../../src/base/hash.js';
import { type Group, keep } from './group.js';

const usernames = Array.from({ length: 64 }, (_, n) => `player-${String(n).padStart(10, '0')}`);

/** Keeps only the sum: storing each hash would cost nearly as much as computing it. */
export const hashing: Group = {
  name: 'hash a username to 32 bits',
  operations: usernames.length,
  cases: [
    {
      name: 'hashString',
      run: () => {
        let sum = 0;
        for (const username of usernames) sum += hashString(username);
        keep(sum);
      },
    },
    {
      name: 'crc32 of node:zlib',
      run: () => {
        let sum = 0;
        for (const username of usernames) sum += crc32(username);
        keep(sum);
      },
    },
  ],
  alternative: {
    name: 'SHA-1 of node:crypto, first 4 bytes',
    run: () => {
      let sum = 0;
      for (const username of usernames) sum += createHash('sha1').update(username).digest().readUInt32BE(0);
      keep(sum);
    },
  },
};
