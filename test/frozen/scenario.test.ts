import { parseMetrics } from "./metricsText.ts";
import { expectRecorded } from "./recorded.ts";
import { type Played, playScenario } from "./scenario.ts";

describe("after a fixed sequence of requests to the real service", () => {
  let played: Played;
  before(async () => {
    played = await playScenario();
  });

  it("the documents of each collection have the recorded fields, with the recorded BSON types", () => {
    expectRecorded("documents", played.documents);
  });

  it("the metrics of the web process have the recorded names, types and labels, those of Gmail among them", () => {
    expectRecorded("webMetrics", parseMetrics(played.webMetrics));
  });

  it("the metrics of the worker have the recorded names, types and labels", () => {
    expectRecorded("workerMetrics", parseMetrics(played.workerMetrics));
  });
});
