import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SERIOUS = ['serious', 'critical'];
/**
 * Time limit of every wait. The limit is generous: only a failing test waits this long, and a busy machine takes many
 * times as long as an idle one.
 */
const WAIT_MS = 120_000;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** A browser: Debian's Chromium in headless mode. */
export class ConsoleBrowser {
  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<ConsoleBrowser> {
    // Chromium's sandbox does not work as root, and tests in a container run as root.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
    return new ConsoleBrowser(await chromium.launch({ executablePath: '/usr/bin/chromium', args, timeout: WAIT_MS }));
  }

  /** Opens the server's console in a fresh browser profile. */
  async open(origin: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visit> {
    const context = await this.browser.newContext({ locale: 'en-GB', timezoneId: 'Asia/Bangkok', ...options });
    context.setDefaultTimeout(WAIT_MS);
    return new Visit(context, await context.newPage(), origin);
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

/** One visitor's page and its errors. */
export class Visit {
  /** Console errors and warnings, and uncaught exceptions. */
  readonly errors: string[] = [];
  private readonly foreign: string[] = [];

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly origin: string,
  ) {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) this.foreign.push(request.url());
    });
  }

  /** Opens a view by its URL, like a user who received a link. */
  async goTo(path: string): Promise<void> {
    await this.page.goto(`${this.origin}/console/${path}`);
  }

  async signIn(token: string): Promise<void> {
    await this.page.getByLabel('Operator’s token').fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Waits for text only within the view, because the names of all views are always on the page. */
  async waitForText(text: string | RegExp): Promise<void> {
    await this.page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Waits until every request has been answered. */
  async waitUntilRead(): Promise<void> {
    await this.page.getByRole('heading', { level: 1 }).waitFor();
    await this.page.locator('.spinner').first().waitFor({ state: 'detached' });
  }

  /**
   * Checks that axe-core finds no serious problem, with all rules or only with the given ones. Injects axe-core in a
   * way that bypasses the page's content policy, which would block it.
   */
  async checkAccessibility(rules?: readonly string[]): Promise<void> {
    const options = rules === undefined ? {} : { runOnly: rules };
    const result = (await this.page.evaluate(`${AXE}; axe.run(${JSON.stringify(options)})`)) as AxeResult;
    const serious = result.violations.filter(({ impact }) => SERIOUS.includes(impact));
    assert.deepEqual(
      serious.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]) })),
      [],
      this.page.url(),
    );
  }

  /** `allowed` matches browser errors that the test has caused on purpose. */
  async end(allowed: RegExp = /^$/): Promise<void> {
    await this.context.close();
    assert.deepEqual(
      this.errors.filter((text) => !allowed.test(text)),
      [],
    );
    assert.deepEqual(this.foreign, [], 'nothing was asked of another host');
  }
}
