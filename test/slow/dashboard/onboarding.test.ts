import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { API_TOKEN, HOOKS_TOKEN, READ_ONLY, useOnboarding } from "../../dashboard/useOnboarding.ts";
import { expectAccessible } from "../../support/axe.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";

/** The address of each page with a checklist, its title, and the languages with the file that a step asks to save. */
const CHECKLISTS = [
  ["/", "No jobs yet", "My first job"],
  ["/runs", "No runs yet", "First run"],
] as const;
const LANGUAGES = [
  ["curl", null],
  ["JavaScript", "mjs"],
  ["Python", "py"],
] as const;

describe("dashboard onboarding", () => {
  const { app, logIn } = useOnboarding();

  /** Copies the three steps of a language. */
  async function copySteps(page: Page): Promise<string[]> {
    const texts: string[] = [];
    const buttons = page.getByRole("listitem").getByRole("button", { name: /^Copy/ });
    for (let at = 0; at < 3; at++) {
      await buttons.nth(at).click();
      await page.getByText("Command copied").last().waitFor();
      const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
      texts.push(await eventually(async () => ((await copied()) === texts.at(-1) ? "" : copied()), "the next command"));
    }
    return texts;
  }

  /** Follows three steps in one shell, in a directory that finds the packages of this repository. */
  async function follow([set = "", second = "", third = ""]: string[], language: string, file: string | null) {
    const home = mkdtempSync(join(tmpdir(), "signalbox-first-"));
    try {
      if (file) writeFileSync(join(home, file), second.replace('"signalbox/client"', JSON.stringify(CLIENT)));
      const script = [set, ...(file ? [] : [second]), third].join("\n");
      const filled = script.replace("YOUR_API_TOKEN", API_TOKEN).replace("YOUR_HOOK_TOKEN", HOOKS_TOKEN);
      const env = { ...process.env, PYTHONPATH: resolve("clients/python/src") };
      await promisify(execFile)("sh", ["-ec", filled], { cwd: home, env });
    } catch (error) {
      throw new Error(`the steps in ${language} failed`, { cause: error });
    } finally {
      rmSync(home, { recursive: true });
    }
  }
  const CLIENT = resolve("src/client/client.ts");

  for (const [path, title, name] of CHECKLISTS) {
    for (const [language, extension] of LANGUAGES) {
      it(`leads from ${path} to the first record in ${language}, and then disappears`, async () => {
        const page = await logIn();
        await page.goto(app.url + path);
        await page.getByRole("heading", { name: title }).waitFor();
        await page.getByRole("button", { name: language, exact: true }).click();
        const saved =
          extension && (await page.getByRole("heading", { name: "Save this as" }).textContent())?.split(" ").at(-1);
        const steps = await copySteps(page);
        expect(steps.join())
          .to.include(app.url)
          .and.to.not.match(/an-api-token|a-hook-token/);

        await follow(steps, language, saved ?? null);

        await page.getByRole("link", { name }).first().waitFor();
        await untilPasses(async () => expect(await page.getByRole("heading", { name: title }).count()).to.equal(0));
      });
    }
  }

  it("offers no test hook to a token that may not call the agent hook", async () => {
    const page = await logIn(READ_ONLY);
    await page.goto(`${app.url}/runs`);
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();

    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: "Send a test hook" }).count()).to.equal(0),
    );
    const answered = await app.call("POST", "/api/hooks/test", undefined, { Authorization: `Bearer ${READ_ONLY}` });
    expect([answered.status, answered.body.code]).to.deep.equal([403, "forbidden"]);
  });

  it("names where to find the token, and has no axe-core findings in light, dark and at 390 px", async () => {
    const page = await logIn();
    for (const [path, title] of CHECKLISTS) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(app.url + path);
      await page.getByRole("heading", { name: title }).waitFor();
      await page.getByText(/in the configuration file of the service/).waitFor();
      await expectAccessible(page, path);
    }
  });
});
