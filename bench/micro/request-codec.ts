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
        for (const bytes of placeBodies) keep(placeBets.read(bytes));
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
