import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { configKeys } from "../../src/config/config.ts";
import { PROBES } from "../../src/config/server.ts";
import { canTest } from "../support/machine.ts";

const FOLDER = "examples/hosts";
const OF_HOSTS = ["NODE_VERSION"];

describe(FOLDER, () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const variables = [...OF_HOSTS, ...configKeys().flatMap(([, { env }]) => env ?? [])];

  for (const name of readdirSync(FOLDER)) {
    it(`${name}: names only scripts, files and variables that exist`, () => {
      const text = readFileSync(join(FOLDER, name), "utf8").replace(/^#.*\n/gm, "");
      const files = [...text.matchAll(/\bsrc\/[\w/]+\.ts\b/g)].map(([file]) => file);
      const used = [...text.matchAll(/\bnpm run (\w+)/g)].map(([, script = ""]) => script);
      const set = [...text.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g)].map(([variable]) => variable);

      expect(files.filter((file) => !existsSync(file))).to.deep.equal([]);
      expect(used.filter((script) => !(script in scripts))).to.deep.equal([]);
      expect(set.filter((variable) => !variables.includes(variable))).to.deep.equal([]);
      expect(set).to.include("TRUST_PROXY");
    });
  }

  it("app.json: scales the processes of the Procfile", () => {
    const { formation } = JSON.parse(readFileSync(join(FOLDER, "app.json"), "utf8"));
    const processes = readFileSync("Procfile", "utf8").match(/^\w+(?=:)/gm) ?? [];

    expect(Object.keys(formation)).to.have.members(processes.filter((name) => name !== "release"));
  });
});

describe("examples/hosts/kubernetes.yaml", () => {
  interface Probe {
    readonly httpGet: { readonly path: string; readonly port: string };
  }
  interface Container extends Readonly<Partial<Record<"startupProbe" | "livenessProbe" | "readinessProbe", Probe>>> {
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly resources: object;
  }
  const documents = parseAllDocuments(readFileSync(join(FOLDER, "kubernetes.yaml"), "utf8"));
  const resources = documents.map((document) => document.toJS());
  const named = (name: string) => resources.find(({ metadata }) => metadata.name === name);
  const podOf = (name: string) => named(name).spec.template;
  const containerOf = (name: string): Container => podOf(name).spec.containers[0];

  it("has no errors, and every resource has a kind and a name of its own", () => {
    const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

    expect(documents.flatMap(({ errors }) => errors)).to.deep.equal([]);
    expect(names).to.have.members([
      ...["ConfigMap signalbox-settings", "Job signalbox-release", "Deployment signalbox-web"],
      ...["Service signalbox", "Deployment signalbox-worker"],
    ]);
  });

  for (const name of ["signalbox-web", "signalbox-worker"]) {
    it(`${name}: selects its own pods, and gives them the time and the memory that they need`, () => {
      const { matchLabels } = named(name).spec.selector;
      const { metadata, spec } = podOf(name);

      expect(metadata.labels).to.deep.equal(matchLabels);
      expect(spec.terminationGracePeriodSeconds).to.be.greaterThan(25); // server.shutdownSeconds
      expect(containerOf(name).resources).to.deep.include({ limits: { memory: "512Mi" } });
    });

    it(`${name}: probes paths of the API at a port that its container has`, () => {
      const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(name);
      const names = ports.map((port) => port.name);
      const asked = [startupProbe, livenessProbe, readinessProbe].flatMap((probe) => probe?.httpGet ?? []);

      expect(asked.map(({ path }) => path)).to.include("/healthz");
      expect(asked.filter(({ path, port }) => !PROBES.includes(path) || !names.includes(port))).to.deep.equal([]);
    });
  }

  it("the service leads to the web pods, and the worker has its metrics where it is probed", () => {
    const { selector, ports } = named("signalbox").spec;
    expect(selector).to.deep.equal(podOf("signalbox-web").metadata.labels);
    expect(ports[0].targetPort).to.equal("http");
    expect(containerOf("signalbox-web").ports[0]?.containerPort).to.equal(3_000); // PORT of the Dockerfile
    expect(containerOf("signalbox-worker").ports[0]?.containerPort).to.equal(
      Number(named("signalbox-settings").data.WORKER_METRICS_PORT),
    );
  });
});

describe("compose.yaml", () => {
  it("starts files that exist, after services that exist, with volumes that exist", () => {
    const { services, volumes } = parse(readFileSync("compose.yaml", "utf8"), { merge: true });
    const all = Object.values(services) as Record<string, unknown>[];
    const files = all.flatMap(({ command }) => String(command ?? "").match(/src\/[\w/]+\.ts/g) ?? []);
    const before = all.flatMap((service) => Object.keys((service.depends_on as object | undefined) ?? {}));
    const used = all
      .flatMap((service) => (service.volumes as string[] | undefined) ?? [])
      .map((at) => at.split(":")[0]);

    expect(files).to.have.length.greaterThan(2);
    expect(files.filter((file) => !existsSync(file))).to.deep.equal([]);
    expect(Object.keys(services)).to.include.members([...before, "web", "worker", "release"]);
    expect(Object.keys(volumes)).to.have.members(used);
  });
});

describe("the systemd unit of docs/how-to/deploy.md", () => {
  const unit = /```ini\n(\[Unit\].*?)```/s.exec(readFileSync("docs/how-to/deploy.md", "utf8"))?.[1] ?? "";

  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
  if (canTest(hasSystemd, "The test of the unit needs systemd-analyze."))
    it("is accepted by systemd-analyze verify", () => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-unit-"));
      const path = join(folder, "signalbox-web.service");
      // The check wants programs to exist on this machine.
      writeFileSync(path, unit.replaceAll(/\/usr\/bin\/node(?= src)/g, process.execPath));
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
      rmSync(folder, { recursive: true });

      expect([status, stderr]).to.deep.equal([0, ""]);
    });

  it("starts files that exist, as npm run web does", () => {
    const [line = ""] = /(?<=^ExecStart=).*$/m.exec(unit) ?? [];
    const command = line.replaceAll("$$", "$").replaceAll("/usr/bin/node", "node");
    const { web } = JSON.parse(readFileSync("package.json", "utf8")).scripts;
    const files = unit.match(/src\/[\w/]+\.ts/g) ?? [];

    expect(web).to.include(/exec node .*\.ts/.exec(command)?.[0]);
    expect(files.filter((file) => !existsSync(file))).to.deep.equal([]);
    expect(Number(/(?<=^TimeoutStopSec=)\d+$/m.exec(unit)?.[0])).to.be.greaterThan(25);
  });
});
