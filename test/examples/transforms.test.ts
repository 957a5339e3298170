import { resolve } from "node:path";
import { expect } from "chai";
import { Transforms } from "../../src/hooks/transforms/transforms.ts";

const alert = (status: string, name: string, labels: Record<string, string> = {}) => ({
  status,
  labels: { alertname: name, ...labels },
  annotations: { summary: `${name} happens` },
});

describe("examples/transforms", () => {
  const printed: string[] = [];
  const transforms = new Transforms({
    dir: resolve("examples/transforms"),
    timeoutMs: 15_000,
    maxMemoryMiB: 64,
    maxThreads: 2,
    env: {},
    onOutput: (_label, _stream, line) => printed.push(line),
  });
  after(() => transforms.close());
  const run = (
    module: string,
    payload: object,
    { headers = {}, ...given }: { headers?: object; export?: string } = {},
  ) =>
    transforms.run(
      { module, label: "run", input: { payload, headers: { ...headers }, url: "/", path: "", query: {} }, ...given },
      new AbortController().signal,
    );

  describe("alerts.js", () => {
    const notify = (...alerts: object[]) => run("alerts.js", { alerts }, { export: "alerts" });

    it("wakes the main session with firing alerts, at once if one is critical", async () => {
      const critical = alert("firing", "DiskFull", { severity: "critical" });

      expect(await notify(alert("resolved", "Old"), alert("firing", "Slow"))).to.deep.equal({
        kind: "result",
        value: { kind: "wake", text: "Slow: Slow happens", mode: "next-heartbeat" },
      });
      expect(await notify(alert("firing", "Slow"), critical)).to.deep.equal({
        kind: "result",
        value: { kind: "wake", text: "Slow: Slow happens\nDiskFull: DiskFull happens", mode: "now" },
      });
    });

    it("drops a notification with resolved alerts only", async () => {
      expect(await notify(alert("resolved", "Slow"))).to.deep.equal({ kind: "dropped" });
    });
  });
});
