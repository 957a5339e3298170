import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";

describe("dashboard of a person whom a proxy names", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    const roles = [{ groups: ["sre"], scopes: ["jobs:read"] }];
    const userHeader = { name: "Remote-User", groups: "Remote-Groups", from: ["127.0.0.1"], roles };
    app = await startApp({ config: JSON.stringify({ server: { userHeader } }) });
  });
  after(async () => {
    await contexts.closeAll();
    await app.close();
  });

  it("says what the operator has to add if none of their groups has a role", async () => {
    const page = await contexts.open("about:blank");
    await page.setExtraHTTPHeaders({ "Remote-User": "ann", "Remote-Groups": "sales" });
    await page.goto(`${app.url}/runs`);

    await page.getByRole("heading", { name: "You may not use this service" }).waitFor();

    await page.getByText("logged in at the proxy as ann").waitFor();
    await page.setExtraHTTPHeaders({ "Remote-User": "ann", "Remote-Groups": "sre" });
    await page.goto(`${app.url}/`);
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  });
});
