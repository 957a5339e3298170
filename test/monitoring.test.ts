import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";

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

interface Panel {
  id: number;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}
const panels = (): Panel[] => JSON.parse(read("docs/how-to/grafana-dashboard.json")).panels;

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
}
const rules = (): Rule[] =>
  parse(read("docs/how-to/alerts.yml")).groups.flatMap((group: { rules: Rule[] }) => group.rules);

/** Returns whether the brackets and quotes of a query are in pairs. */
function isBalanced(query: string): boolean {
  let rest = query.replaceAll(/"[^"]*"/g, "").replaceAll(/[^"()[\]{}]/g, "");
  for (let before = ""; rest !== before; ) {
    before = rest;
    rest = rest.replaceAll(/\(\)|\[\]|\{\}/g, "");
  }
  return query.trim() !== "" && rest === "";
}

const expressions: Readonly<Record<string, () => string[]>> = {
  "alerts.yml": () => rules().map(({ expr }) => expr),
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

    it(`${file} has queries with brackets and quotes in pairs`, () => {
      expect(queries().filter((query) => !isBalanced(query))).to.deep.equal([]);
    });
  }

  it("the check of brackets and quotes rejects queries with a fault", () => {
    for (const query of ["sum(up", 'up{job="a"', 'up{job="a}', "sum(up])", ""])
      expect(isBalanced(query), query).to.equal(false);
  });

  it("an alert fires when MongoDB or Redis is away", () => {
    const dependency = rules().find(({ expr }) => expr.includes("signalbox_dependency_up"));

    expect(dependency).to.deep.include({ labels: { severity: "critical" }, for: "2m" });
    expect(dependency?.expr).to.match(/^min by \(dependency\) \(signalbox_dependency_up\) == 0$/);
  });

  it("each alert has a severity, a duration that Prometheus understands, a summary and an action", () => {
    const incomplete = rules().filter(
      ({ for: duration = "1m", labels, annotations }) =>
        !/^\d+[smhd]$/.test(duration) ||
        !["warning", "critical"].includes(labels.severity) ||
        !annotations.summary ||
        !annotations.action,
    );

    expect(incomplete).to.deep.equal([]);
  });

  it("the panels of the dashboard have ids of their own and do not overlap", () => {
    const cells = panels().flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );

    expect(new Set(panels().map(({ id }) => id)).size).to.equal(panels().length);
    expect(new Set(cells).size).to.equal(cells.length);
  });

  it("the dashboard shows every metric of the service", () => {
    const shown = expressions["grafana-dashboard.json"]?.()
      .flatMap(selectors)
      .map(({ metric }) => metricOf(metric));

    const missing = Object.keys(METRICS).filter((name) => !shown?.includes(METRICS[name]));

    expect(missing).to.deep.equal([]);
  });

  it("monitor.md names each alert once, and no other", () => {
    const alerts = rules().map(({ alert }) => alert);
    const table = read("docs/how-to/monitor.md").split("## Alerts")[1]?.split("## ")[0] ?? "";

    expect([...table.matchAll(/`(Signalbox\w+)`/g)].map(([, name]) => name)).to.have.members(alerts);
  });
});
