import { Check } from 'typebox/schema';
import { textOf } from '../../src/callback/request-codec.js';
import { compileValidators, requestSchemas } from '../../src/callback/request-schema.js';
import { CALLBACKS, codecs, placeBodies } from './callbacks.js';
import { type Group, keep } from './group.js';

const { placeBets } = codecs;

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
  ],
  alternative: {
    name: 'JSON.parse alone',
    run: () => {
      for (const bytes of placeBodies) keep(JSON.parse(bytes.toString()));
    },
  },
};

const TXNS_MAX = 200;
const parsed: unknown[] = placeBodies.map((bytes) => JSON.parse(bytes.toString()));
const isValid = compileValidators(TXNS_MAX).placeBets;
const schema = requestSchemas(TXNS_MAX).placeBets;

export const validating: Group = {
  name: 'validate a parsed placeBets body',
  operations: CALLBACKS,
  cases: [
    {
      name: 'ajv: the schema compiled once',
      run: () => {
        for (const value of parsed) keep(isValid(value));
      },
    },
  ],
  alternative: {
    name: 'typebox: the schema walked each time',
    run: () => {
      for (const value of parsed) keep(Check(schema, value));
    },
  },
};
