import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectDatabase } from "../../../../src/models/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { CLIENT, startOidcProvider } from "../../../support/oidcProvider.ts";
import { PersonBrowser, PUBLIC_URL } from "../../../support/personBrowser.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { mongoUri, redisUrl } from "../../../support/servers/servers.ts";

describe("SIGHUP", () => {
  let dir: string;
  const running: Service[] = [];
  const file = () => join(dir, "signalbox.json5");
  const write = (template: string, token = "a-hook-token-of-length") =>
    writeFileSync(
      file(),
      `{ redis: { prefix: "${randomPrefix}" }, hooks: { enabled: true, token: "${token}", mappings: [
        { match: { path: "a" }, messageTemplate: "${template}", deliver: false },
      ] } }`,
    );
  const preparedServers = async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    await database.close();
    return { MONGODB_URI: uri, REDIS_URL: await redisUrl(), SIGNALBOX_CONFIG: file() };
  };
  const randomPrefix = `reload-${randomUUID().slice(0, 8)}`;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-reload-"));
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
    rmSync(dir, { recursive: true });
  });

  it("makes web and worker reload a changed configuration, and refuse an invalid one", async () => {
    write("one");
    const env = await preparedServers();
    for (const main of ["api", "workers"]) running.push(startProcess(`src/${main}/main.ts`, env));
    const [web] = running as [Service, Service];
    const { url } = await web.ready;
    await Promise.all(running.map(({ ready }) => ready));
    const post = (token: string) =>
      fetch(`${url}/hooks/a`, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: "" });
    const runWithToken = async (token: string) => {
      const { runId } = (await (await post(token)).json()) as { runId: string };
      return eventually(async () => {
        const run = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string; reply: string };
        return run.status === "completed" && run.reply;
      }, "the run to end");
    };
    const reload = async (words: RegExp) => {
      const before = running.map((service) => service.output().stdout.length);
      for (const { child } of running) child.kill("SIGHUP");
      await eventually(
        () => running.every((service, i) => words.test(service.output().stdout.slice(before[i]))),
        `both to say ${words}`,
      );
    };

    const first = await runWithToken("a-hook-token-of-length");
    write("two", "another-token-of-length");
    await reload(/configuration is in effect/);
    const second = await runWithToken("another-token-of-length");
    const oldToken = (await post("a-hook-token-of-length")).status;
    write("{{broken", "a-third-token-of-length");
    await reload(/is invalid; the previous one stays/);
    const third = await runWithToken("another-token-of-length");

    expect([first, second, third].map((reply) => reply.split(": ").at(-1))).to.deep.equal(["one", "two", "two"]);
    expect(oldToken).to.equal(401);
    expect(web.output().stdout).to.match(/messageTemplate: line 1, column 1: these braces are never closed/);
    for (const service of running) expect(await service.stop()).to.equal(0);
  });

  it("applies changed roles to people who are logged in", async () => {
    const provider = await startOidcProvider();
    const roles = (scope: string) => {
      const role = [{ groups: ["sre"], scopes: [scope] }];
      const oidc = { issuer: provider.issuer, ...CLIENT, roles: role };
      const userHeader = { name: "Remote-User", groups: "Remote-Groups", from: ["127.0.0.1"], roles: role };
      const server = { publicUrl: PUBLIC_URL, basePath: "/signalbox", oidc, userHeader };
      writeFileSync(file(), JSON.stringify({ redis: { prefix: randomPrefix }, server }));
    };
    roles("jobs:read");
    const web = startProcess("src/api/main.ts", await preparedServers());
    running.push(web);
    const { url } = await web.ready;
    const browser = new PersonBrowser({ url: new URL(url).origin });
    await browser.logIn();
    const scopesWith = async (headers: Record<string, string>) => {
      const session = await fetch(`${new URL(url).origin}/signalbox/session`, { headers });
      return ((await session.json()) as { scopes: string[] }).scopes;
    };
    const bothScopes = () =>
      Promise.all([browser.headers, { "Remote-User": "ann", "Remote-Groups": "sre" }].map(scopesWith));

    const before = await bothScopes();
    roles("admin");
    web.child.kill("SIGHUP");
    await eventually(
      () => /configuration is in effect/.test(web.output().stdout),
      "the configuration to be read again",
    );
    const after = await bothScopes();

    await provider.close();
    expect(before).to.deep.equal([["jobs:read"], ["jobs:read"]]);
    expect(after).to.deep.equal([["admin"], ["admin"]]);
  });

  it("leaves settings unchanged that need a restart: the queues' prefix and the shutdown times", async () => {
    const env = await preparedServers();
    const agent = JSON.stringify(["/bin/sh", "-c", 'cat >/dev/null; sleep "$1"', "sh", "{thinking}"]);
    const settings = `hooks: { enabled: true, token: "a-hook-token-of-length" },
      agents: { defaults: { runner: "command" }, runners: { command: { command: ${agent} } } }`;
    writeFileSync(file(), `{ redis: { prefix: "${randomPrefix}" }, worker: { shutdownSeconds: 5 }, ${settings} }`);
    for (const main of ["api", "workers"]) running.push(startProcess(`src/${main}/main.ts`, env));
    const [web, worker] = running as [Service, Service];
    const { url } = await web.ready;
    await worker.ready;
    const accept = async (seconds: string) => {
      const body = JSON.stringify({ message: "x", thinking: seconds, deliver: false, wakeMode: "next-heartbeat" });
      const headers = { Authorization: "Bearer a-hook-token-of-length", "Content-Type": "application/json" };
      return (await (await fetch(`${url}/hooks/agent`, { method: "POST", headers, body })).json()) as { runId: string };
    };
    const until = ({ runId }: { runId: string }, status: string) =>
      eventually(async () => {
        const run = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string; attempts: number };
        return run.status === status && run;
      }, `the run to be ${status}`);

    writeFileSync(file(), `{ redis: { prefix: "other" }, worker: { shutdownSeconds: 600 }, ${settings} }`);
    for (const { child } of running) child.kill("SIGHUP");
    await eventually(
      () => running.every(({ output }) => /configuration is in effect/.test(output().stdout)),
      "both to read it again",
    );
    await until(await accept("0"), "completed");
    const long = await accept("60");
    await until(long, "running");
    const stopped = await worker.stop();

    expect(worker.output().stdout).to.match(/"keys":\["redis.prefix","worker.shutdownSeconds"\]/);
    expect(stopped).to.equal(0);
    expect(await until(long, "queued")).to.include({ attempts: 0 }); // It was released, which is not an attempt.
    expect(await web.stop()).to.equal(0);
  });

  it("keeps the API token of a process whose address others can reach", async () => {
    const env = { ...(await preparedServers()), HOST: "" };
    writeFileSync(file(), `{ server: { host: "0.0.0.0", apiToken: "an-api-token-of-length" } }`);
    const web = startProcess("src/api/main.ts", env);
    running.push(web);
    const { url } = await web.ready;

    writeFileSync(file(), "{}");
    web.child.kill("SIGHUP");
    await eventually(() => /configuration is (invalid|in effect)/.test(web.output().stdout), "it to be read");

    expect((await fetch(`${url}/api/jobs`)).status).to.equal(401);
    expect(web.output().stdout).to.match(/server\.apiToken is not set/);
  });

  it("applies server.maxWaiting to later requests, and answers those that wait", async () => {
    const writeLimit = (maxWaiting: number) =>
      writeFileSync(file(), `{ redis: { prefix: "${randomPrefix}" }, server: { maxWaiting: ${maxWaiting} } }`);
    writeLimit(1);
    const web = startProcess("test/support/processes/web.ts", await preparedServers());
    running.push(web);
    const { url } = await web.ready;
    const put = (body: object) =>
      fetch(`${url}/api/jobs/awaited`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const wait = (seconds: number) => fetch(`${url}/api/jobs/awaited`, { headers: { Prefer: `wait=${seconds}` } });
    const applied = async (seconds: number) => (await wait(seconds)).headers.get("Preference-Applied");
    await put({});
    const held = wait(60);
    await eventually(async () => (await applied(1)) === null, "the only place to be taken");

    writeLimit(2);
    web.child.kill("SIGHUP");
    await eventually(() => /configuration is in effect/.test(web.output().stdout), "the reload");
    const second = await applied(1);

    expect(second).to.equal("wait=1");
    expect(((await (await held).json()) as { status: string }).status).to.equal("running");
  });
});
