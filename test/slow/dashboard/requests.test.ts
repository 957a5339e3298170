import { useDashboard } from "../../dashboard/useDashboard.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "ci", when: { "payload.result": "failed" } }, name: "CI", messageTemplate: "Build {{n}} failed", sessionKey: "hook:ci" },
] } }`;

describe("dashboard page of hooks", () => {
  const { app, openLive } = useDashboard({ config: CONFIG });
  const send = (body: object, name = "ci") =>
    app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}` });

  it("tries a mapping on a kept request that was changed, and on a pasted one", async () => {
    await send({ n: 8, result: "failed" });
    const page = await openLive("/requests");
    await page.locator(".table-requests").getByRole("link", { name: "ci", exact: true }).click();
    await page.getByRole("button", { name: "Edit and try" }).click();
    await page.getByLabel("Body", { exact: true }).last().fill('{ "result": "passed" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByRole("list", { name: "Conditions of ci" }).getByText("passed").waitFor();

    await page.getByRole("link", { name: "Hooks" }).first().click();
    await page.getByRole("button", { name: "Try a mapping" }).click();
    await page.getByRole("textbox", { name: "Hook" }).fill("ci");
    await page.getByLabel("Body", { exact: true }).fill("{ not json");
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("The body must be a valid JSON object or array.").waitFor();
    await page.getByLabel("Body", { exact: true }).fill('{ "n": 9, "result": "failed" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("Build 9 failed").waitFor();
    await page.getByLabel("Body", { exact: true }).fill('{ "m": 9, "result": "failed" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("1 placeholder had no value: n").waitFor();
  });

  it("says how to keep requests while there are none", async () => {
    const page = await openLive("/requests");

    await page.getByRole("heading", { name: "No requests yet" }).waitFor();
    await page.getByRole("link", { name: /See why a webhook did nothing/ }).waitFor();
  });
});
