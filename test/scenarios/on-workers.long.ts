import { playAll } from './stories.js';

// A long test, because a start with workers takes many times as long as one without.
playAll(2);
