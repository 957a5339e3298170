import { resolve } from "node:path";
import { expect } from "chai";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
  type Page,
} from "playwright-core";
import { untilPasses } from "./eventually.ts";

/**
 * Features of the browser to disable. The first three load internal pages of some 400 modules each for every window,
 * which costs more processor time than most tests. The others are those that Playwright disables: its list has no
 * effect beside another one.
 */
const DISABLED_FEATURES = [
  ...["WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxPopup"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"],
  ...["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"],
  "PreconnectToSearch",
];

const ARGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  `--disable-features=${DISABLED_FEATURES}`,
];

/** Returns the address that the page itself has: `page.url()` may follow a navigation within the page later than its content. */
export const addressOf = (page: Page): Promise<string> => page.evaluate("location.href");

/** Waits until a part of the page's address has a value: the browser goes back and forward later than it answers a key. */
export async function waitForAddress(page: Page, part: "href" | "pathname" | "search" | "hash", value: string) {
  await untilPasses(async () => expect(new URL(await addressOf(page))[part]).to.equal(value));
}

/** The environment variable with the address of the browser that all tests share. */
export const SHARED_BROWSER = "SIGNALBOX_TEST_BROWSER";

const executablePath = resolve(".tools/bin/chromium");

/** Starts a browser for several processes; each page has a context of its own in it. */
export const startSharedBrowser = (): Promise<BrowserServer> => chromium.launchServer({ executablePath, args: ARGS });

/** The shared browser, to which the first page of a test file connects. */
let browser: Promise<Browser> | undefined;
/** A browser of this process, if none is shared, and for tests that read the clipboard, which all contexts of a browser share. */
let ownBrowser: Promise<Browser> | undefined;

function openBrowser({ permissions = [] }: BrowserContextOptions): Promise<Browser> {
  const shared = process.env[SHARED_BROWSER];
  if (shared === undefined || permissions.includes("clipboard-read")) {
    ownBrowser ??= chromium.launch({ executablePath, args: ARGS });
    return ownBrowser;
  }
  browser ??= chromium.connect(shared);
  return browser;
}

/** Closes the browser of this process, and disconnects from the shared one. */
export async function closeBrowser(): Promise<void> {
  const open = [browser, ownBrowser];
  browser = ownBrowser = undefined;
  for (const one of open) await (await one)?.close();
}

/** Opens pages in browser contexts that share nothing, and collects their errors. */
export class BrowserContexts {
  readonly #contexts: BrowserContext[] = [];
  readonly #errors: string[] = [];

  /** Opens a page in a new context with reduced motion. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await (await openBrowser(options)).newContext({
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
      ...options,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.#errors.push(String(error)));
    page.on("console", (message) => {
      if (/content security policy|violates/i.test(message.text())) this.#errors.push(message.text());
    });
    await page.goto(url);
    return page;
  }

  /** Opens a page and waits until it shows that it receives live updates. */
  async openLive(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(url, options);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  }

  /** Returns the errors so far, for a test that expects them. */
  takeErrors(): string[] {
    return this.#errors.splice(0);
  }

  /** Closes all contexts. @throws if a page had an uncaught error or violated its content security policy */
  async closeAll(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    const errors = this.#errors.splice(0);
    if (errors.length > 0) throw new Error(errors.join("\n"));
  }
}

/** Logs in on the page of the log-in. */
export async function enterToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.keyboard.press("Enter");
}
