import { expect } from "chai";
import { version } from "../../src/shared/process/version.ts";
import { untilPasses } from "../support/eventually.ts";
import { startWorker } from "../support/worker.ts";
import { TOKEN, useSettings } from "./useSettings.ts";

describe("dashboard page of the settings", () => {
  const { app, logIn } = useSettings();

  it("shows health, versions, mappings with their addresses, and the configuration without secrets", async () => {
    const worker = await startWorker(app);
    try {
      const page = await logIn(TOKEN);
      await page.goto(`${app.url}/settings`);

      await page.getByText("1 worker is connected").waitFor();
      await page.getByText("MongoDB is ready").waitFor();
      const main = page.locator("main");
      await untilPasses(async () => expect(await main.getByText(version, { exact: true }).count()).to.equal(1));
      const card = page.getByRole("listitem", { name: "ci" });
      await untilPasses(async () =>
        expect(await card.textContent()).to.match(
          /\/hooks\/ci[\s\S]*"payload.state":"failed"[\s\S]*hook:ci:\{\{branch\}\}/,
        ),
      );
      await card.getByRole("button", { name: "Copy the address of ci" }).click();
      await page.getByText("Address copied").waitFor();
      await untilPasses(async () =>
        expect(await page.evaluate<string>("navigator.clipboard.readText()")).to.equal(`${app.url}/hooks/ci`),
      );
      await page.getByText("It has no address of its own.").waitFor();
      await untilPasses(async () =>
        expect(await page.getByRole("link", { name: "See notifications" }).getAttribute("href")).to.equal("/notify"),
      );
      const content = page.getByRole("region", { name: "Configuration in force, content" });
      await content.getByText("[redacted]").first().waitFor();
      await untilPasses(async () =>
        expect(await page.content()).to.not.match(/an-api-token-of|a-read-only-token-of|a-hook-token-of/),
      );
    } finally {
      await worker.close();
    }
  });
});
