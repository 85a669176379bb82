import { compileValidators, textOf } from '../../src/callback/request-codec.js';
import { CALLBACKS, codecs, placeBodies } from './callbacks.js';
import { type Group, keep } from './group.js';

const TXNS_MAX = 200;
const { placeBets } = codecs;
const parsed: unknown[] = placeBodies.map((bytes) => JSON.parse(bytes.toString()));
const isValid = compileValidators({ txnsMax: TXNS_MAX, isStrict: false }).placeBets;

export const reading: Group = {
  name: 'read a placeBets body',
  operations: CALLBACKS,
  cases: [
    {
      name: 'RequestCodec: parse, validate, make a command',
      run: () => {
        for (const bytes of placeBodies) keep(placeBets.read(textOf(bytes)));
      },
    },
    {
      name: 'of that, ajv alone: validate what is parsed',
      run: () => {
        for (const value of parsed) keep(isValid(value));
      },
    },
  ],
  alternative: {
    name: 'JSON.parse alone',
    run: () => {
      for (const bytes of placeBodies) keep(JSON.parse(bytes.toString()));
    },
  },
};
