import { resolve } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const ARGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** The test run's one browser; started by the first who asks. */
let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
}

/** Readers of the page, each of whom knows nothing of the others. */
export class Readers {
  readonly #contexts: BrowserContext[] = [];
  readonly #faults: string[] = [];

  /** A new reader at an address. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    browser ??= chromium.launch({ executablePath: resolve(".tools/bin/chromium"), args: ARGS });
    const context = await (await browser).newContext({ locale: "en-GB", timezoneId: "Europe/Berlin", ...options });
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
