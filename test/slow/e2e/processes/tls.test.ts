import { readFileSync } from "node:fs";
import { expect } from "chai";
import { Redis } from "ioredis";
import { eventually, untilPasses } from "../../../support/eventually.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { freeNodePorts } from "../../../support/servers/redisCluster.ts";
import { freePort, startMongod, type TestServer } from "../../../support/servers/servers.ts";
import { CERTIFICATE, canTestTls, startTlsRedis } from "../../../support/servers/tlsRedis.ts";

const SLOTS = 16_384;
const TOKEN = "a-hook-token-of-length";

/** Turns a node into a cluster of one. */
async function giveAllSlots({ port }: TestServer): Promise<void> {
  const redis = new Redis({ port, tls: { ca: readFileSync(CERTIFICATE) } });
  await redis.cluster("ADDSLOTS", ...Array.from({ length: SLOTS }, (_, slot) => slot));
  await eventually(async () => String(await redis.cluster("INFO")).includes("cluster_state:ok"), "the cluster");
  redis.disconnect();
}

if (canTestTls())
  describe("MongoDB and Redis over TLS", () => {
    let servers: TestServer[] = [];
    let services: Service[] = [];
    let env: Record<string, string>;
    let cluster: Record<string, string>;

    const start = (main: string, env: Record<string, string>, ...args: string[]): Service => {
      const service = startProcess(main, env, args);
      services.push(service);
      return service;
    };

    before(async () => {
      const tls = ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", CERTIFICATE, "--tlsCAFile", CERTIFICATE];
      const port = await freePort();
      const [nodePort = 0] = await freeNodePorts(1);
      const [redis, node, mongod] = await Promise.all([
        startTlsRedis(port),
        startTlsRedis(nodePort, [
          "--cluster-enabled",
          "yes",
          "--tls-cluster",
          "yes",
          "--cluster-announce-ip",
          "127.0.0.1",
        ]),
        startMongod([...tls, "--tlsAllowConnectionsWithoutCertificates"]),
      ]);
      servers = [redis, node, mongod];
      await giveAllSlots(node);
      cluster = { REDIS_URL: `rediss://127.0.0.1:${node.port}`, REDIS_CLUSTER: "true" };
      env = {
        REDIS_URL: `rediss://127.0.0.1:${redis.port}`,
        MONGODB_URI: `mongodb://127.0.0.1:${mongod.port}/signalbox?tls=true`,
        SIGNALBOX_HOOKS_ENABLED: "true",
        SIGNALBOX_HOOKS_TOKEN: TOKEN,
      };
      expect(await start("src/cli/main.ts", { ...env, NODE_EXTRA_CA_CERTS: CERTIFICATE }, "release").ended).to.equal(0);
    });
    afterEach(async () => {
      await Promise.all(services.map((service) => service.child.exitCode ?? service.stop("SIGKILL")));
      services = [];
    });
    after(() => Promise.all(servers.map((server) => server.remove())));

    for (const title of ["a server", "a cluster"]) {
      it(`are used when NODE_EXTRA_CA_CERTS names their authority, with Redis as ${title}`, async () => {
        const trusting = { ...env, ...(title === "a cluster" && cluster), NODE_EXTRA_CA_CERTS: CERTIFICATE };
        const { url } = await start("test/support/processes/both.ts", trusting).ready;

        const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };
        const body = JSON.stringify({ message: "How is it?", deliver: false, wakeMode: "next-heartbeat" });
        const answer = await fetch(`${url}/hooks/agent`, { method: "POST", headers, body });
        const { runId } = (await answer.json()) as { runId: string };
        const run = await eventually(async () => {
          const read = (await (await fetch(`${url}/api/runs/${runId}`, { headers })).json()) as {
            endedAt: string | null;
          };
          return read.endedAt !== null && read;
        }, "the run to end");

        expect(answer.status).to.equal(202);
        expect(run).to.include({ status: "completed", reply: "The echo runner received: How is it?" });
      });
    }

    const settings: [string, () => Record<string, string>][] = [
      ["REDIS_TLS_REJECT_UNAUTHORIZED=false", () => ({ REDIS_TLS_REJECT_UNAUTHORIZED: "false" })],
      ["a file in REDIS_TLS_CA", () => ({ REDIS_TLS_CA: CERTIFICATE })],
      [
        "a PEM text in REDIS_TLS_CA, with Redis as a cluster",
        () => ({ ...cluster, REDIS_TLS_CA: readFileSync(CERTIFICATE, "utf8") }),
      ],
    ];
    for (const [title, setting] of settings) {
      it(`are used with tlsCAFile in the address of MongoDB and ${title}`, async () => {
        const MONGODB_URI = `${env.MONGODB_URI}&tlsCAFile=${CERTIFICATE}`;
        const { url } = await start("test/support/processes/both.ts", { ...env, MONGODB_URI, ...setting() }).ready;

        // On a busy machine a check can take longer than its limit.
        await untilPasses(async () => {
          const answer = await fetch(`${url}/readyz`);
          const { checks } = (await answer.json()) as { checks: { name: string; ok: boolean }[] };

          expect(answer.status).to.equal(200);
          expect(checks.filter(({ ok }) => ok).map(({ name }) => name)).to.include.members(["mongodb", "redis"]);
        });
      });
    }

    it("are refused otherwise, and the error names the fix", async () => {
      const believed = `${env.MONGODB_URI}&tlsCAFile=${CERTIFICATE}`;
      const processes = [
        start("src/cli/main.ts", env, "release"),
        start("src/api/main.ts", { ...env, MONGODB_URI: believed }),
      ];

      const codes = await Promise.all(processes.map(({ ended }) => ended));

      const refusalOf = (name: string, setting: string) =>
        new RegExp(`^${name} at \\S+ cannot be used \\(DEPTH_ZERO_SELF_SIGNED_CERT\\): .* ${setting}\\b.*\n$`);
      expect(codes).to.deep.equal([1, 1]);
      expect(processes[0]?.output().stderr).to.match(refusalOf("MongoDB", "tlsCAFile"));
      expect(processes[1]?.output().stderr).to.match(refusalOf("Redis", "REDIS_TLS_REJECT_UNAUTHORIZED=false"));
    });
  });
