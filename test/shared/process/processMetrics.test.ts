import { expect } from "chai";
import { Registry } from "prom-client";
import { addProcessMetrics } from "../../../src/shared/process/processMetrics.ts";

describe("the metrics of a process", () => {
  it("are observed once, however many registries have them: their observers never end", async () => {
    const [first, second] = [new Registry(), new Registry()];
    addProcessMetrics(first);
    addProcessMetrics(second);

    const name = "nodejs_gc_duration_seconds";
    expect(first.getSingleMetric(name)).to.be.an("object").and.equal(second.getSingleMetric(name));
    for (const registry of [first, second]) {
      expect(await registry.metrics())
        .to.match(/^process_resident_memory_bytes \d/m)
        .and.match(/^nodejs_eventloop_lag_/m);
    }
  });
});
