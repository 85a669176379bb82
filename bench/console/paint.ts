import { type Browser, type CDPSession, chromium } from 'playwright-core';

/** The time that a browser with an empty cache needs to show a view, in milliseconds. */
export interface Painted {
  readonly firstPaintMs: number;
  /** Total blocking time after the first paint: for each main-thread task, the time beyond 50 ms. */
  readonly blockedMs: number;
  /** Bytes transferred over the network, including headers. */
  readonly bytes: number;
  readonly requests: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** The time of the event, in microseconds. */
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly isOutermostMainFrame?: boolean } };
}

const CATEGORIES = 'toplevel,devtools.timeline,blink.user_timing,loading,__metadata';
const LONG_TASK_US = 50_000;
const US = 1000;
/** Wait after which all tasks of a painted view have finished. */
const SETTLED_MS = 2000;

/** Starts Debian's Chromium in headless mode. */
export async function startChromium(): Promise<Browser> {
  // Chromium's sandbox does not work as root, and containers run as root.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return await chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** Opens an address in a fresh browser context and reads Chromium's trace. */
export async function paint(browser: Browser, url: string): Promise<Painted> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    let [bytes, requests] = [0, 0];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      requests++;
    });
    await session.send('Network.enable');
    const events: TraceEvent[] = [];
    session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
    await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: traced() });
    await page.goto(url);
    await page.waitForTimeout(SETTLED_MS);
    await endTracing(session);
    return { ...readTrace(events), bytes, requests };
  } finally {
    await context.close();
  }
}

const traced = () => ({ includedCategories: CATEGORIES.split(',') });

async function endTracing(session: CDPSession): Promise<void> {
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
}

/**
 * Reads the times since the last navigation, the one to the page itself. An earlier navigation opened an empty page.
 */
function readTrace(events: readonly TraceEvent[]): Pick<Painted, 'firstPaintMs' | 'blockedMs'> {
  const painted = events.filter(({ name }) => name === 'firstContentfulPaint').at(-1);
  if (painted === undefined) throw new Error('Chromium has traced no paint: was the console built?');
  const { pid, tid } = painted;
  const begun = events.filter((one) => one.name === 'navigationStart' && one.ts < painted.ts).at(-1);
  if (begun === undefined) throw new Error('Chromium has traced no navigation');
  const main = events.find(
    (one) => one.name === 'thread_name' && one.pid === pid && one.args?.name === 'CrRendererMain',
  );
  const tasks = events.filter(
    ({ name, ph, pid: of, tid: on, ts }) =>
      name.endsWith('RunTask') && ph === 'X' && of === pid && on === (main?.tid ?? tid) && ts >= painted.ts,
  );
  const blockedUs = tasks.reduce((sum, { dur = 0 }) => sum + Math.max(0, dur - LONG_TASK_US), 0);
  return { firstPaintMs: (painted.ts - begun.ts) / US, blockedMs: blockedUs / US };
}
