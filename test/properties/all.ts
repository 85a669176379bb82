import { ARRAYS } from './arrays.js';
import { COMMUTING } from './commuting.js';
import { INVERSES } from './inverses.js';
import { IRRELEVANT } from './irrelevant.js';
import type { Property } from './property.js';
import { REFUSALS } from './refusals.js';
import { UNSEEN } from './unseen.js';

/** All properties that are tested on a single operator. */
export const PROPERTIES = [REFUSALS, COMMUTING, INVERSES, ARRAYS, ...IRRELEVANT, UNSEEN] as readonly Property[];
