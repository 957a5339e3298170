import { resolve } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
  type Page,
} from "playwright-core";

/**
 * Features of the browser that are switched off. The first three load pages of its own, of some 400 modules each, for every
 * window; they cost more processor time than most tests. The others are those that Playwright switches off: its list does
 * not count once there is another.
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

/** Where the browser listens that all tests share, in the environment. */
export const SHARED_BROWSER = "SIGNALBOX_TEST_BROWSER";

const executablePath = resolve(".tools/bin/chromium");

/** Starts a browser that several processes use; each reader has a context of its own in it. */
export const startSharedBrowser = (): Promise<BrowserServer> => chromium.launchServer({ executablePath, args: ARGS });

/** The shared browser, or one of this process; taken by the first reader of a file. */
let browser: Promise<Browser> | undefined;

function openBrowser(): Promise<Browser> {
  const shared = process.env[SHARED_BROWSER];
  browser ??= shared === undefined ? chromium.launch({ executablePath, args: ARGS }) : chromium.connect(shared);
  return browser;
}

/** Ends a browser of this process; leaves a shared one. */
export async function closeBrowser(): Promise<void> {
  const open = browser;
  browser = undefined;
  await (await open)?.close();
}

/** Readers of the page, each of whom knows nothing of the others. */
export class Readers {
  readonly #contexts: BrowserContext[] = [];
  readonly #faults: string[] = [];

  /** A new reader at an address, for whom nothing moves that need not. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await (await openBrowser()).newContext({
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
      ...options,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.#faults.push(String(error)));
    page.on("console", (message) => {
      if (/content security policy|violates/i.test(message.text())) this.#faults.push(message.text());
    });
    await page.goto(url);
    return page;
  }

  /** The same, once the page says that it hears what happens. */
  async openLive(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(url, options);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  }

  /** They leave. @throws when a page did what it must never do: an error that nobody caught, or what its policy refuses */
  async leave(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    const faults = this.#faults.splice(0);
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }
}
