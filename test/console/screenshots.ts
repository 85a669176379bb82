import { setTimeout as delay } from 'node:timers/promises';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { ConsoleBrowser, type Visit } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

/*
 * Makes the pictures in docs/console of a console with some traffic: node dist/test/console/screenshots.js
 */
const FOLDER = 'docs/console';
const PRODUCTS = ['SLOTS', 'ROULETTE', 'BACCARAT'];
const PLAYERS = ['ann', 'bob', 'chai', 'dao', 'eve', 'fah'];
const STAKES = [10, 2500, 1250.75, 300];
const PAUSE_MS = 10;
/** The charts of the overview begin half a minute after the start. */
const TRAFFIC_MS = 90_000;
const DESKTOP = { width: 1280, height: 664 };
const TABLE = { width: 1280, height: 480 };
const PHONE = { width: 390, height: 560 };

const node = await TestNode.start();
const browser = await ConsoleBrowser.start();
const platform = new PlatformClient(node.callbackUrl);
try {
  await importPlayers(node.adminUrl, PLAYERS, 500_000);
  for (const name of ['crm', 'data-lake']) await post('/v1/feeds', { name, from: 'start' });
  const filter = { types: ['walletd.bet.settled'], currencies: ['THB'] };
  await post('/v1/feeds', { name: 'bonus-engine', from: 'start', filter });
  const playing = play();
  await delay(TRAFFIC_MS);
  await shoot('overview', DESKTOP, '');
  await playing;
  await acknowledge('data-lake');
  await shoot('player', DESKTOP, 'player?name=ann');
  await shoot('hanging', TABLE, 'hanging?older=0&product=ROULETTE');
  await shoot('feeds', TABLE, 'feeds');
  await shoot('review', DESKTOP, 'player?name=bob&show=operations', reviewCorrection);
  await shoot('phone', PHONE, 'player?name=ann', ({ page }) => page.getByRole('button', { name: 'Players' }).click());
} finally {
  platform.close();
  await browser.close();
  await node.close();
}

/** Plays rounds until shortly after the picture of the overview. A few bets stay open. */
async function play(): Promise<void> {
  const endMs = performance.now() + TRAFFIC_MS + 5000;
  for (let n = 0; performance.now() < endMs; n++) {
    const username = PLAYERS[n % PLAYERS.length] as string;
    const stake = STAKES[n % STAKES.length] as number;
    const round = Math.floor(n / PLAYERS.length);
    const of = { productId: PRODUCTS[round % PRODUCTS.length] };
    // Each player wins half of the bets of each stake, so that no balance runs out.
    const payout = round % 4 < 2 ? 2 * stake : 0;
    const id = String(8_100_000 + n);
    await platform.post('placeBets', { ...bet(username, id, stake), ...of });
    if (n % 97 !== 0) await platform.post('settleBets', { ...settlement(username, id, payout), ...of });
    await delay(PAUSE_MS);
  }
}

/** Acknowledges all events of the feed. */
async function acknowledge(feed: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${node.adminUrl}/v1/feeds/${feed}/events`);
    const { next, events } = (await response.json()) as { next: string; events: readonly object[] };
    await post(`/v1/feeds/${feed}/ack`, { position: next });
    if (events.length === 0) return;
  }
}

async function post(path: string, body: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(node.adminUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

async function reviewCorrection({ page }: Visit): Promise<void> {
  await page.getByRole('button', { name: 'Correct balance' }).click();
  await page.getByLabel('Amount').fill('-1200.50');
  await page.getByLabel('Reason').fill('Ticket 7794: bonus credited twice');
  await page.getByRole('button', { name: 'Review' }).click();
}

async function shoot(
  name: string,
  viewport: { readonly width: number; readonly height: number },
  path: string,
  act: (visit: Visit) => Promise<void> = async () => {},
): Promise<void> {
  const visit = await browser.open(node.adminUrl, { viewport });
  await visit.goTo(path);
  await visit.waitUntilRead();
  await act(visit);
  // Charts and dialogs are drawn after the page has been read.
  await delay(1500);
  await visit.page.screenshot({ path: `${FOLDER}/${name}.jpg`, type: 'jpeg', quality: 80 });
  await visit.context.close();
  console.log(`${FOLDER}/${name}.jpg`);
}
