import { resolve } from "node:path";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { freePort, startMongod, startRedis, type TestServer } from "../support/servers.ts";

/** A key, and the certificate for localhost and 127.0.0.1 that it has signed itself, good until 2126. */
const CERTIFICATE = resolve("test/fixtures/localhost.pem");
const TOKEN = "a-hook-token-of-length";

describe("MongoDB and Redis over TLS", () => {
  let servers: TestServer[] = [];
  let services: Service[] = [];
  let env: Record<string, string>;
  before(async () => {
    const port = await freePort();
    const files = ["cert", "key", "ca-cert"].flatMap((name) => [`--tls-${name}-file`, CERTIFICATE]);
    const onlyTls = ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no", ...files];
    const tls = ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", CERTIFICATE, "--tlsCAFile", CERTIFICATE];
    servers = await Promise.all([
      startRedis(onlyTls, port),
      startMongod([...tls, "--tlsAllowConnectionsWithoutCertificates"]),
    ]);
    env = {
      REDIS_URL: `rediss://127.0.0.1:${port}`,
      MONGODB_URI: `mongodb://127.0.0.1:${servers[1]?.port}/signalbox?tls=true`,
      SIGNALBOX_HOOKS_ENABLED: "true",
      SIGNALBOX_HOOKS_TOKEN: TOKEN,
    };
  });
  afterEach(async () => {
    await Promise.all(services.map((service) => service.child.exitCode ?? service.stop("SIGKILL")));
    services = [];
  });
  after(() => Promise.all(servers.map((server) => server.remove())));

  const start = (main: string, env: Record<string, string>, ...args: string[]): Service => {
    const service = startProcess(main, env, args);
    services.push(service);
    return service;
  };

  it("serve where their authority is named in NODE_EXTRA_CA_CERTS", async () => {
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: CERTIFICATE };
    expect(await start("src/cli/main.ts", trusting, "release").ended).to.equal(0);
    const web = start("src/api/main.ts", trusting);
    const [{ url }] = await Promise.all([web.ready, start("src/workers/main.ts", trusting).ready]);

    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify({ message: "How is it?", deliver: false, wakeMode: "next-heartbeat" });
    const answer = await fetch(`${url}/hooks/agent`, { method: "POST", headers, body });
    const { runId } = (await answer.json()) as { runId: string };
    const run = await eventually(async () => {
      const read = (await (await fetch(`${url}/api/runs/${runId}`, { headers })).json()) as { endedAt: string | null };
      return read.endedAt !== null && read;
    }, "the run to end");

    expect(answer.status).to.equal(202);
    expect(run).to.include({ status: "completed", reply: "The echo runner was told: How is it?" });
  });

  it("are not believed otherwise, and the process says what to do", async () => {
    const believed = `${env.MONGODB_URI}&tlsCAFile=${CERTIFICATE}`;
    const processes = [
      start("src/cli/main.ts", env, "release"),
      start("src/api/main.ts", { ...env, MONGODB_URI: believed }),
    ];

    const codes = await Promise.all(processes.map(({ ended }) => ended));

    const said = (name: string) =>
      new RegExp(`^${name} at \\S+ cannot be used \\(DEPTH_ZERO_SELF_SIGNED_CERT\\): .* NODE_EXTRA_CA_CERTS, .*\n$`);
    expect(codes).to.deep.equal([1, 1]);
    expect(processes[0]?.output().stderr).to.match(said("MongoDB"));
    expect(processes[1]?.output().stderr).to.match(said("Redis"));
  });
});
