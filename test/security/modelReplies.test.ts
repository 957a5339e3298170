import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { openAiRunner } from "../../src/agents/runners/openai.ts";
import { turn, whatWasThrown } from "../agents/runners/turn.ts";
import { eventually } from "../support/eventually.ts";
import { type Behaviour, delta, type ModelServer, startModelServer } from "../support/servers/modelServer.ts";

/** Repeats the same data until the client disconnects. */
async function pour(response: ServerResponse, piece: string): Promise<void> {
  const gone = once(response, "close");
  while (!response.destroyed) {
    if (!response.write(piece)) await Promise.race([once(response, "drain"), gone]);
  }
}

const words = "word ".repeat(20_000);

describe("a model that no longer stops", () => {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());

  const endless: [string, Behaviour][] = [
    [
      "in a stream",
      (response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        return pour(response, `data: ${JSON.stringify(delta({ content: words }))}\n\n`);
      },
    ],
    [
      "in one object",
      (response) => {
        response.writeHead(200, { "Content-Type": "application/json" });
        response.write('{"choices":[{"message":{"content":"');
        return pour(response, words);
      },
    ],
  ];
  for (const [title, behaviour] of endless) {
    it(`${title} is disconnected, and its run fails`, async () => {
      server.script(behaviour);
      const runner = openAiRunner({ baseUrl: server.url });

      const thrown = await whatWasThrown(runner.run(turn("Go on", { model: "small" }), new AbortController().signal));

      expect(thrown).to.include({ code: "agent_failed", message: "The model's answer is too long." });
      await eventually(() => server.requests.at(-1)?.cancelled, "the connection to be closed");
    }).timeout(120_000);
  }
});
