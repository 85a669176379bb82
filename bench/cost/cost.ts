import type { LoadReport } from '../load/load.js';
import { announce, measure, type RaceSettings } from '../load/race.js';
import { printRaced } from '../load/race-table.js';
import { withCleanUp } from '../support/clean-up.js';
import { type Server, startWalletd } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';

export type CostSettings = RaceSettings & StoreChoice;

const SCRAPE_MS = 1000;
/** The first is what the others are measured by. */
const VARIANTS: readonly Readonly<Record<string, string>>[] = [
  { name: 'walletd' },
  { name: 'metrics each second' },
  { name: 'snapshot each second', WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' },
  { name: 'signed requests', WALLETD_SIGNATURE_KEYS: 'bench:0123456789abcdef0123456789abcdef' },
];

/** What is on beside the callbacks, each by itself. Counting for metrics is always on; `micro` has its share. */
export function runCost(settings: CostSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const servers: Server[] = [];
    for (const variant of VARIANTS) servers.push(await startWalletd(store, 0, variant));
    // Of a server that is being ended it fails; one that is down has failed its load.
    const scraping = setInterval(() => void scrape(servers[1] as Server).catch(() => {}), SCRAPE_MS);
    try {
      const raced = await measure(servers, [settings], settings.rounds);
      printRaced(raced);
      return { durability: store.durability, raced };
    } finally {
      clearInterval(scraping);
    }
  });
}

async function scrape({ adminUrl }: Server): Promise<void> {
  const response = await fetch(`${adminUrl}/metrics`);
  await response.text();
}
