import { nightly } from '../support/nightly.js';
import { playAll } from './stories.js';

/** Transcripts with every status code, with arrays, and with the operator's commands. */
const IN_EACH_RUN = ['1-status-codes.txt', '3-arrays.txt', '5-operator.txt'];

// A long test, because a start with workers takes many times as long as one without.
playAll(2, (name) =>
  IN_EACH_RUN.includes(name) ? {} : nightly('other transcripts run on workers, and this one inline'),
);
