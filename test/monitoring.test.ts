import { readFileSync } from "node:fs";
import { expect } from "chai";

const read = (path: string) => readFileSync(path, "utf8");
const recorded = (name: string): Record<string, { type: string; labels: object }> =>
  JSON.parse(read(`test/frozen/recorded/${name}.json`));

const METRICS = { ...recorded("webMetrics"), ...recorded("workerMetrics") };

/** A selector of a metric of ours, such as `signalbox_jobs_total{outcome="failed"}`, with the names of its labels. */
interface Selector {
  readonly metric: string;
  readonly labels: string[];
}

function selectors(text: string): Selector[] {
  return [...text.matchAll(/\b(signalbox_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = "", labels = ""]) => ({
    metric,
    labels: [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label as string),
  }));
}

/** Returns the recorded metric to which a name in a query belongs; a histogram has three names. */
function metricOf(name: string) {
  const ofHistogram = name.replace(/_(bucket|sum|count)$/, "");
  return METRICS[name] ?? (METRICS[ofHistogram]?.type === "histogram" ? METRICS[ofHistogram] : undefined);
}

/** Labels that Prometheus adds to each sample. */
const OF_TARGET = ["job", "instance"];

const panels = (): { title: string; targets?: { expr: string; legendFormat: string }[] }[] =>
  JSON.parse(read("docs/how-to/grafana-dashboard.json")).panels;

const expressions: Readonly<Record<string, () => string[]>> = {
  "alerts.yml": () =>
    read("docs/how-to/alerts.yml")
      .split("- alert: ")
      .slice(1)
      .map((rule) => /expr:([\s\S]*?)\n {8}(?:for|labels):/.exec(rule)?.[1] ?? ""),
  "grafana-dashboard.json": () => panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
};

describe("the monitoring files", () => {
  for (const [file, queries] of Object.entries(expressions)) {
    it(`${file} queries only metrics and labels that the service has`, () => {
      const unknown = queries()
        .flatMap(selectors)
        .filter(({ metric, labels }) => {
          const known = metricOf(metric);
          return !known || !labels.every((label) => OF_TARGET.includes(label) || label in known.labels);
        });

      expect(queries()).to.have.length.above(10);
      expect(queries().filter((query) => query === "")).to.deep.equal([]);
      expect(unknown).to.deep.equal([]);
    });

    it(`${file} has balanced parentheses and braces in each query`, () => {
      const count = (query: string, sign: string) => query.split(sign).length;

      const unbalanced = queries().filter((query) =>
        ["()", "{}", "[]"].some(([a = "", b = ""]) => count(query, a) !== count(query, b)),
      );

      expect(unbalanced).to.deep.equal([]);
    });
  }

  it("the dashboard shows every metric of the service", () => {
    const shown = expressions["grafana-dashboard.json"]?.()
      .flatMap(selectors)
      .map(({ metric }) => metricOf(metric));

    const missing = Object.keys(METRICS).filter((name) => !shown?.includes(METRICS[name]));

    expect(missing).to.deep.equal([]);
  });

  it("monitor.md names each alert once, and no other", () => {
    const alerts = [...read("docs/how-to/alerts.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const table = read("docs/how-to/monitor.md").split("## Alerts")[1]?.split("## ")[0] ?? "";

    expect([...table.matchAll(/`(Signalbox\w+)`/g)].map(([, name]) => name)).to.have.members(alerts);
  });
});
