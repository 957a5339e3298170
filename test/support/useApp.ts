import { startApp, type TestApp } from "./app.ts";

type Options = Parameters<typeof startApp>[0];

/** Starts an app before each test of the current suite and closes it after the test. @returns the app of the running test */
export function useApp(options?: Options): TestApp {
  const [app, set] = lateApp();
  beforeEach(async () => set(await startApp(options)));
  afterEach(() => app.close());
  return app;
}

/** Starts one app for all tests of the current suite, and closes it after them. @returns this app, once a test runs */
export function useSharedApp(options?: Options): TestApp {
  const [app, set] = lateApp();
  before(async () => set(await startApp(options)));
  after(() => app.close());
  return app;
}

/** Returns an app whose members are those of the app that was set last, because a suite is declared before its hooks run. */
export function lateApp(): [app: TestApp, set: (started: TestApp) => void] {
  let current: TestApp | undefined;
  const app = new Proxy({} as TestApp, {
    get(_, name) {
      if (!current) throw new Error("No app runs outside of the hooks and tests of the suite.");
      return Reflect.get(current, name);
    },
  });
  return [
    app,
    (started) => {
      current = started;
    },
  ];
}
