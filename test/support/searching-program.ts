import { fileURLToPath } from 'node:url';
import { StoreSearches } from '../../src/node/jobs/store-searches.js';
import { settingsWith } from './settings.js';

/** A separate program that searches forever. Prints its search's process ID once the search has begun. */
const program = fileURLToPath(new URL('./endless-search.js', import.meta.url));
const searches = new StoreSearches(settingsWith({ store: 'lmdb:/nowhere' }), program);
const search = searches.tryBegin({ in: 'log', id: 'id', hitsMax: 1 });
for await (const line of search?.lines ?? []) if (line.type === 'hit') console.log(line.hit.username);
