import type { BrowserContextOptions, Page } from "playwright-core";
import { BrowserContexts } from "../support/browser.ts";
import { useApp } from "../support/useApp.ts";

/** Starts an app before each test of the current suite, and closes it with all pages after the test. */
export function useDashboard(options?: Parameters<typeof useApp>[0]) {
  const contexts = new BrowserContexts();
  afterEach(() => contexts.closeAll());
  const app = useApp(options);
  return {
    app,
    contexts,
    /** Opens a path and waits until the page receives live updates. */
    openLive: (path = "/", more: BrowserContextOptions = {}): Promise<Page> => contexts.openLive(app.url + path, more),
    /** Opens a path in a page whose clock the test can fast-forward. */
    async openWithClock(path = "/"): Promise<Page> {
      const page = await contexts.open("about:blank");
      await page.clock.install();
      await page.goto(app.url + path);
      return page;
    },
  };
}
