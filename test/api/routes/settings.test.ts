import { expect } from "chai";
import { ConfigSchema } from "../../../src/config/config.ts";
import { type ConfigNode, childNode } from "../../../src/config/nodes.ts";
import { version } from "../../../src/shared/process/version.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startMongod, startRedis } from "../../support/servers/servers.ts";
import { startWorker } from "../../support/worker.ts";

const TOKEN = "an-api-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const settingsOf = async (app: TestApp) => (await app.call("GET", "/api/settings", undefined, bearer)).body;

/** A text that no answer may contain. */
const SENTINEL = "s3ntinel";
let made = 0;
const secret = () => `${SENTINEL}-${made++}-of-sufficient-length`;
const address = (scheme = "https") => `${scheme}://me:${secret()}@example.com/?key=${secret()}`;
/** An address with a place for a secret where the channel allows no user. */
const withQuery = () => `https://example.com/?key=${secret()}`;
const signing = () => `whsec_${Buffer.from(`${SENTINEL}${made++}`.padEnd(24, "x")).toString("base64")}`;

/** A secret that has no place for the sentinel. */
const PING = "5d0c1f62-8f0a-4c57-9d0a-3b1f8f2f6c11";

/** A configuration with a value for each secret of the schema. */
const WITH_SECRETS = {
  server: {
    apiToken: [TOKEN, secret()],
    readOnlyToken: secret(),
    secret: secret(),
    tokens: [{ name: "ci", token: secret(), scopes: ["jobs:read"] }],
    publicUrl: "https://jobs.example.com",
    oidc: {
      issuer: "https://id.example.com",
      clientId: "signalbox",
      clientSecret: secret(),
      everyone: { scopes: ["jobs:read"] },
    },
  },
  mongodb: { uri: address("mongodb") },
  redis: { url: `redis://me:${secret()}@example.com` },
  hooks: {
    enabled: true,
    token: secret(),
    mappings: [
      { match: { path: "a" }, auth: { type: "token", token: secret() } },
      { match: { path: "b" }, auth: { type: "github", secret: secret() }, handshake: "meta", verifyToken: secret() },
    ],
  },
  agents: {
    runners: {
      openai: { baseUrl: "https://example.com/v1", apiKey: secret(), headers: { "X-Key": secret() } },
      command: { command: ["agent"], env: { KEY: secret() } },
    },
  },
  channels: {
    telegram: { botToken: secret(), apiUrl: address() },
    slack: { botToken: secret(), apiUrl: withQuery(), signingSecret: secret(), appToken: secret(), allowFrom: ["U1"] },
    discord: { botToken: secret(), apiUrl: withQuery() },
    mattermost: { botToken: secret(), apiUrl: withQuery() },
    msteams: { appId: "a", tenantId: "t", appPassword: secret(), apiUrl: withQuery(), loginUrl: withQuery() },
    whatsapp: { accessToken: secret(), phoneNumberId: "1", apiUrl: withQuery() },
    signal: { account: "+4915100000000", apiUrl: address() },
    imessage: { apiUrl: address(), password: secret() },
    ntfy: { baseUrl: withQuery(), token: secret() },
    email: { host: "smtp.example.com", from: "a@example.com", username: "a", password: secret() },
  },
  notify: [
    {
      id: "ops",
      on: ["job.failed"],
      to: {
        webhook: { url: `https://example.com/${SENTINEL}/path`, secret: signing(), headers: { "X-Key": secret() } },
      },
    },
  ],
  expect: [{ id: "backup", name: "Backup", every: "1d", ping: PING }],
  outbound: { allowedHosts: ["example.com"], secret: [signing(), signing()] },
  otel: { endpoint: `https://me:${secret()}@example.com`, headers: { "X-Key": secret() } },
};

/** Returns the paths of all secrets below a node, and whether the value has one. Items of lists and maps are named `*`. */
function secretPaths(node: ConfigNode, value: unknown, path = ""): [path: string, isSet: boolean][] {
  if (node.secret) return [[path, value !== undefined]];
  const fields = value as Readonly<Record<string, unknown>> | undefined;
  const own = Object.keys(node.properties ?? {}).flatMap((name) =>
    secretPaths(childNode(node, name) as ConfigNode, fields?.[name], `${path}.${name}`),
  );
  const items = Array.isArray(value) ? value : [undefined];
  const ofItems = node.items ? items.flatMap((item) => secretPaths(node.items as ConfigNode, item, `${path}.*`)) : [];
  return [...own, ...ofItems];
}

describe("GET /api/settings", () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  it("answers the configuration in force, the mappings with their addresses, the versions and the health", async () => {
    app = await startApp({
      env: { PATH_OF_HOOK: "hidden-path" },
      config: `{
        server: { apiToken: "${TOKEN}", publicUrl: "https://jobs.example.com/box", basePath: "/box" },
        hooks: {
          enabled: true, token: "a-hook-token-of-length", presets: ["gmail"], gmail: { account: "a@example.com" },
          mappings: [
            { match: { path: "ci", source: "x" }, sessionKey: "hook:ci:{{branch}}" },
            { preset: "github", auth: { secret: "the-secret-of-github" } },
            { id: "variable", match: { path: "\${PATH_OF_HOOK}" } },
            { id: "any", action: "wake" },
          ],
        },
        channels: { log: {} },
        notify: [{ id: "ops", on: ["job.failed"], to: { channel: "log", to: "a" } }],
      }`,
    });

    const settings = await settingsOf(app);

    expect(settings.versions).to.deep.include({ signalbox: version, node: process.versions.node });
    expect(settings.versions.mongodb).to.match(/^\d+\.\d+\.\d+/);
    expect(settings.versions.redis).to.match(/^\d+\.\d+\.\d+/);
    expect(settings.health.checks).to.deep.include({ name: "redis", ok: true });
    const mappings = settings.mappings.map(({ mapping, preset, address }: Record<string, unknown>) => [
      mapping,
      preset,
      address,
    ]);
    expect(mappings).to.deep.equal([
      ["ci:x", null, "https://jobs.example.com/box/hooks/ci"],
      ["github", "github", "https://jobs.example.com/box/hooks/github"],
      ["variable", null, "https://jobs.example.com/box/hooks/${PATH_OF_HOOK}"],
      ["any", null, null],
      ["preset:gmail", "gmail", "https://jobs.example.com/box/hooks/gmail"],
    ]);
    expect(settings.mappings[0]).to.include({ source: "x", sessionKey: "hook:ci:{{branch}}", action: "agent" });
    expect(settings.rules).to.deep.equal(["ops"]);
    expect(settings.config.server).to.include({ apiToken: "[redacted]", publicUrl: "https://jobs.example.com/box" });
    expect(JSON.stringify(settings)).to.not.match(/hidden-path|secret-of-github/);
  });

  it("answers no secret of any key", async () => {
    const paths = new Map<string, boolean>();
    for (const [path, isSet] of secretPaths(ConfigSchema as ConfigNode, WITH_SECRETS))
      paths.set(path, isSet || paths.get(path) === true);
    expect(
      [...paths].filter(([, isSet]) => !isSet).map(([path]) => path),
      "secrets without a value",
    ).to.deep.equal([]);
    app = await startApp({ config: JSON.stringify(WITH_SECRETS) });

    const { status, body } = await app.call("GET", "/api/settings", undefined, bearer);
    expect(JSON.stringify(body)).to.not.include(PING);

    expect(status).to.equal(200);
    const text = JSON.stringify(body);
    const inBase64 = /whsec_/;
    expect(text).to.not.include(SENTINEL).and.not.match(inBase64);
    expect(text).to.not.include(TOKEN);
    expect(body.config.notify[0].to.webhook.url).to.equal("https://example.com/[redacted]");
  });

  it("gives paths without server.publicUrl, and no address while hooks are off", async () => {
    const mappings = `mappings: [{ match: { path: "ci" } }]`;
    const addressIn = async (hooks: string) => {
      app = await startApp({ config: `{ server: { apiToken: "${TOKEN}", basePath: "/box" }, hooks: { ${hooks} } }` });
      const [{ address }] = (await settingsOf(app)).mappings;
      await app.close();
      app = undefined;
      return address;
    };

    expect(await addressIn(`enabled: true, token: "a-hook-token-of-length", path: "/in", ${mappings}`)).to.equal(
      "/box/in/ci",
    );
    expect(await addressIn(mappings)).to.equal(null);
  });

  it("counts the connected worker processes", async () => {
    app = await startApp({ apiToken: TOKEN });
    expect((await settingsOf(app)).health.workers).to.equal(0);
    const running = app;
    const workers = [await startWorker(app), await startWorker(app)];

    await eventually(async () => (await settingsOf(running)).health.workers === 2, "both workers to be counted");

    await Promise.all(workers.map((worker) => worker.close()));
    await eventually(async () => (await settingsOf(running)).health.workers === 0, "the workers to be gone");
  });

  it("still answers while MongoDB and Redis are unavailable", async () => {
    const [mongod, redis] = await Promise.all([startMongod(), startRedis()]);
    const running = await startApp({ apiToken: TOKEN, mongo: mongod.url, redis: redis.url });
    try {
      await Promise.all([mongod.stop("SIGKILL"), redis.stop("SIGKILL")]);

      const { versions, health } = await settingsOf(running);

      expect(versions).to.include({ mongodb: null, redis: null, warning: null, signalbox: version });
      expect(health).to.deep.equal({
        checks: [
          { name: "mongodb", ok: false },
          { name: "redis", ok: false },
          { name: "process", ok: true },
        ],
        workers: null,
      });
    } finally {
      await running.close();
      await Promise.all([mongod.remove(), redis.remove()]);
    }
  });
});
