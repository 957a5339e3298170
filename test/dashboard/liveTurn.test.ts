import { expect } from "chai";
import type { Page } from "playwright-core";
import { applyRunEvent, type TurnPart } from "../../src/dashboard/data/run/turn.ts";
import { untilPasses } from "../support/eventually.ts";
import { type Behaviour, delta, hangs } from "../support/servers/modelServer.ts";
import { outcome, RunPages } from "./runPages.ts";

/** Streams pieces of a text, the next one at each call of `go`, and then the end. */
function stepwise(...pieces: string[]) {
  let go = () => {};
  const behaviour: Behaviour = async (response, request) => {
    for (const [i, piece] of pieces.entries()) {
      if (i === 0) await hangs(piece)(response, request);
      else response.write(`data: ${JSON.stringify(delta({ content: piece }))}\n\n`);
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    }
    response.write(`data: ${JSON.stringify(delta({}, "stop"))}\n\n`);
    response.end("data: [DONE]\n\n");
  };
  return { behaviour, go: () => go() };
}

describe("the page of a running run", () => {
  const pages = new RunPages();
  const box = (page: Page) => page.getByRole("log", { name: "Text and tools" });

  it("shows the text as it comes, keeps its place, and shows the reply at the end", async () => {
    const lines = Array.from({ length: 60 }, (_, i) => `Line ${i}.`).join("\n");
    const { behaviour, go } = stepwise("The build ", `failed.\n${lines}`, " The end.");
    pages.model.script(behaviour);
    const runId = await pages.ring("agent", { message: "Look", deliver: false });
    const page = await pages.open(`/runs/${runId}`);
    await page.setViewportSize({ width: 390, height: 700 });

    await box(page).getByText("The build").waitFor();
    const height = (await box(page).boundingBox())?.height;
    go();
    await box(page).getByText("Line 59.").waitFor();
    await untilPasses(async () =>
      expect(await box(page).evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight)).to.be.below(2),
    );
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    const grown = (await box(page).boundingBox())?.height;
    await box(page).evaluate((one) => one.scrollTo(0, 0));
    go();
    await box(page).getByText("The end.").waitFor();
    const top = await box(page).evaluate((one) => one.scrollTop);
    go();
    await outcome(page, "Completed").waitFor();
    await page.getByRole("region", { name: "Reply, content" }).getByText("The build failed.").waitFor();

    expect(grown).to.equal(height);
    expect(width).to.be.at.most(390);
    expect(top).to.equal(0);
    await untilPasses(async () => expect(await box(page).count()).to.equal(0));
  });
});

describe("applyRunEvent", () => {
  const started = (tool: string, preview: string | null = null) =>
    ({ type: "tool.started", data: { tool, preview } }) as const;
  const apply = (...events: Parameters<typeof applyRunEvent>[1][]) =>
    events.reduce(applyRunEvent, [] as readonly TurnPart[]);

  it("joins text, ends the newest running tool of the name, and begins anew with an attempt", () => {
    const parts = apply(
      { type: "message.delta", data: { delta: "old" } },
      { type: "run.started", data: { attempt: 2 } },
      { type: "message.delta", data: { delta: "a" } },
      { type: "message.delta", data: { delta: "b" } },
      started("Bash", "ls"),
      started("Bash"),
      { type: "tool.completed", data: { tool: "Bash", ms: 5, error: true } },
      { type: "tool.completed", data: { tool: "unknown", ms: null, error: false } },
      { type: "log", data: { text: "x\n" } },
    );

    expect(parts).to.deep.equal([
      { kind: "text", text: "ab" },
      { kind: "tool", tool: "Bash", preview: "ls", ms: null, error: null },
      { kind: "tool", tool: "Bash", preview: null, ms: 5, error: true },
    ]);
  });

  it("keeps a bounded number of parts and of characters", () => {
    const long = apply(
      { type: "message.delta", data: { delta: "x".repeat(99_999) } },
      { type: "message.delta", data: { delta: "yz" } },
    );
    const many = apply(...Array.from({ length: 300 }, (_, i) => started(`t${i}`)));

    expect(long).to.deep.equal([{ kind: "text", text: `${"x".repeat(99_998)}yz` }]);
    expect([many.length, many.at(-1)]).to.deep.equal([
      200,
      { kind: "tool", tool: "t299", preview: null, ms: null, error: null },
    ]);
  });
});
