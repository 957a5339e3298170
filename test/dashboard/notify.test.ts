import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { useRules } from "./useRules.ts";

describe("dashboard page of notifications", () => {
  const { openLive, cardOf } = useRules();

  it("is in the navigation, and shows each rule with its target, and each expectation", async () => {
    const page = await openLive("/");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Notifications" }).click();
    await page.getByRole("heading", { level: 1, name: "Notifications" }).waitFor();
    await cardOf(page, "ops").waitFor();

    await untilPasses(async () => {
      const texts = await Promise.all(["ops", "ci", "agent"].map((rule) => cardOf(page, rule).textContent()));
      expect(texts[0]).to.match(/job\.failed[\s\S]*log night watch[\s\S]*2 failures in a row[\s\S]*1h/);
      expect(texts[0]).to.include("This rule has sent nothing yet.");
      expect(texts[1]).to.match(/job\.completed, job\.stale[\s\S]*https:\/\/ci\.example\.com[\s\S]*"Nightly"/);
      expect(texts[2]).to.include("the main session, at its next heartbeat");
    });
    await untilPasses(async () => expect(await page.locator("main").textContent()).to.not.match(/hidden|whsec_/));
    await untilPasses(async () =>
      expect(await page.getByRole("heading", { name: "Expected jobs" }).count()).to.equal(1),
    );
    await untilPasses(async () =>
      expect(await page.locator("main").textContent()).to.match(
        /backup[\s\S]*Nightly backup\*[\s\S]*1d[\s\S]*2h[\s\S]*never/,
      ),
    );
  });

  it("tests a rule and shows the result, and the delivery in the list of the rule", async () => {
    const page = await openLive("/notify");
    await page.getByRole("button", { name: "Test ops" }).click();

    await cardOf(page, "ops").getByRole("status").getByText("The test was delivered.").waitFor();
    const latest = cardOf(page, "ops").getByRole("list", { name: "Latest deliveries of ops" });
    await untilPasses(async () => expect(await latest.textContent()).to.match(/test\s*Sent/));
    await untilPasses(async () =>
      expect(await cardOf(page, "agent").textContent()).to.include("This rule has sent nothing yet."),
    );
  });
});
