import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { useDashboard } from "../../../dashboard/useDashboard.ts";
import { startApp } from "../../../support/app.ts";
import { expectAccessible } from "../../../support/axe.ts";
import { enterToken } from "../../../support/browser.ts";
import { untilPasses } from "../../../support/eventually.ts";

const API = "an-api-token-of-length";
const ATTACK = `</title></pre><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const headers = { Authorization: `Bearer ${API}` };

describe("a share link in a browser", () => {
  const { app, contexts } = useDashboard({ apiToken: API });
  let link: string;
  beforeEach(async () => {
    await app.call("PUT", "/api/jobs/job", { name: `Job ${ATTACK}` }, headers);
    await report({ stepName: ATTACK, progress: 40, message: ATTACK, jobProgressStart: 0, jobProgressEnd: 50 });
    link = (await app.call("POST", "/api/jobs/job/share", { include: ["output"] }, headers)).body.url;
  });
  const report = (body: object) => app.call("PUT", "/api/jobs/job/steps/load", body, headers);
  const revoke = () => app.call("DELETE", "/api/jobs/job/share", undefined, headers);
  const finish = () =>
    report({ status: "completed", progress: 100, jobProgressStart: 0, jobProgressEnd: 100, output: { html: ATTACK } });

  it("runs nothing that a job brings, on the page and in the badge, and is accessible", async () => {
    const page = await contexts.open(link);
    await page.getByText("Running", { exact: true }).waitFor();
    await finish();
    await page.getByText("Completed", { exact: true }).waitFor(); // the page refreshes itself
    await expectAccessible(page);

    await untilPasses(async () =>
      expect(await page.title())
        .to.include("onerror")
        .and.not.equal("owned"),
    );
    await untilPasses(async () => expect(await page.locator("img, script").count()).to.equal(0));
    await page.goto(`${link}.svg`);
    await untilPasses(async () => expect(await page.locator("script, img, foreignObject").count()).to.equal(0));
    await untilPasses(async () => expect(await page.locator("text").count()).to.equal(2));
  });

  it("refreshes itself without scripts, fits a phone, and ends with its revocation", async () => {
    const page = await contexts.open(link, { javaScriptEnabled: false, viewport: { width: 320, height: 600 } });
    await page.getByText("20 %").first().waitFor();
    const box = await page.locator("main").boundingBox();
    expect(box?.width).to.be.at.most(320);

    await report({ progress: 80, jobProgressStart: 0, jobProgressEnd: 50 });
    await page.getByText("40 %").first().waitFor();
    await revoke();
    await page.getByText("This link is not valid any more").waitFor();
    await untilPasses(async () => expect(await page.getByText("onerror").count()).to.equal(0));
  });

  it("is not kept by the browser: going back after the revocation shows nothing of the job", async () => {
    await finish();
    const page = await contexts.open(link);
    await page.getByText("Completed", { exact: true }).waitFor();
    await page.goto("about:blank");
    await revoke();
    await page.goBack();

    await page.getByText("This link is not valid any more").waitFor();
    await untilPasses(async () => expect(await page.getByText("Completed", { exact: true }).count()).to.equal(0));
  });

  it("is refused in a frame of a site that the configuration does not name, which can show the badge", async () => {
    const site = createServer((_, res) =>
      res.setHeader("Content-Type", "text/html").end(`<iframe src="${link}"></iframe><img src="${link}.svg" alt="">`),
    );
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const page = await contexts.open(origin);

    await untilPasses(async () => expect(await page.frameLocator("iframe").getByText("Running").count()).to.equal(0));
    expect(contexts.takeErrors().join()).to.include("frame-ancestors");
    await untilPasses(async () =>
      expect(await page.evaluate("document.images[0].decode().then(() => document.images[0].naturalHeight)")).to.equal(
        20,
      ),
    );

    const other = await startApp({ apiToken: API, mongo: app.mongoUri, shareFrameAncestors: [origin] });
    link = link.replace(app.url, other.url);
    await page.reload();
    await page.frameLocator("iframe").getByText("Running").waitFor();
    await other.close();
    site.close();
  });

  it("is created, copied and ended on the page of the job, on a phone and without a mouse", async () => {
    const page = await contexts.open(`${app.url}/jobs/job`, { viewport: { width: 390, height: 800 } });
    const menu = page.locator("summary[aria-label='More actions']");
    await enterToken(page, API);
    await page.getByRole("button", { name: "Copy link" }).press("Enter");
    await page.getByText("Link, which needs a log-in, copied").waitFor();
    await menu.press("Enter");
    await page.getByRole("button", { name: "Share" }).press("Enter");
    await page.getByLabel("Show the output too").press(" ");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create and copy link" }).press("Enter");
    await page.getByText("Link, which needs no log-in, copied").waitFor();
    await menu.press("Enter");
    await page.getByRole("button", { name: "Share" }).press("Enter");
    await page.getByRole("button", { name: "End all links" }).press("Enter");
    await page.getByText("All links without a log-in have ended").waitFor();

    expect((await fetch(link)).status).to.equal(404);
  });
});
