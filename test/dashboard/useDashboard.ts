import type { BrowserContextOptions, Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";

/**
 * Starts an app before each test of the current suite and passes it to `onStart`. Closes it with all pages after the
 * test. The returned functions open paths of this app.
 */
export function useDashboard(onStart: (app: TestApp) => void, options: Parameters<typeof startApp>[0] = {}) {
  const contexts = new BrowserContexts();
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp(options);
    onStart(app);
  });
  afterEach(async () => {
    await contexts.closeAll();
    await app.close();
  });
  return {
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
