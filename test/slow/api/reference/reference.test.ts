import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { expectAccessible } from "../../../support/axe.ts";
import { BrowserContexts, waitForAddress } from "../../../support/browser.ts";
import { untilPasses } from "../../../support/eventually.ts";

const execute = promisify(execFile);

describe("API reference", function () {
  this.timeout(300_000);
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("has no findings of axe-core in light and dark and on a phone, where it does not scroll sideways", async () => {
    for (const path of ["/docs", "/docs/errors"]) {
      const page = await contexts.open(app.url + path, {
        colorScheme: "light",
        viewport: { width: 1280, height: 800 },
      });
      await expectAccessible(page, path);
    }
  });

  it("leads by keyboard from the contents to an operation", async () => {
    const page = await contexts.open(`${app.url}/docs`);
    await page.getByRole("link", { name: "Report a step" }).focus();
    await page.keyboard.press("Enter");

    await waitForAddress(page, "hash", "#reportStep");
    await untilPasses(async () =>
      expect(await page.getByRole("heading", { name: "Report a step" }).isVisible()).to.equal(true),
    );
  });

  it("shows requests as commands that work in a shell", async () => {
    const page = await contexts.open(`${app.url}/docs`);
    const env = { ...process.env, SIGNALBOX_URL: app.url, SIGNALBOX_TOKEN: "none" };
    const run = async (operationId: string) => {
      const command = await page.getByRole("region", { name: `Request of ${operationId}` }).textContent();
      const { stdout } = await execute("sh", ["-c", `${command} -sS`], { env });
      return JSON.parse(stdout);
    };

    expect(await run("putJob")).to.include({ jobId: "import-2041", status: "running", name: "Nightly import" });
    expect(await run("reportStep")).to.include({ jobId: "import-2041", stepKey: "load" });
    expect((await run("listJobs")).jobs).to.have.length(1);
  });
});
