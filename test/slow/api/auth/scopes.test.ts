import { hash } from "node:crypto";
import { expect } from "chai";
import { allRoutes } from "../../../../src/api/routes/all.ts";
import type { AnyRoute } from "../../../../src/api/routing/route.ts";
import { parseConfig } from "../../../../src/config/load.ts";
import { compileMappings } from "../../../../src/hooks/mappings/mapping.ts";
import { bearer } from "../../../support/app.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const tokenOf = (name: string) => `the-token-with-the-name-${name}`;
const JOB_SCOPES = ["jobs:read", "jobs:report", "jobs:create", "jobs:write"] as const;
const SCOPES = [...JOB_SCOPES, "gates:answer", "runs:read", "runs:write", "admin"] as const;
const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  "jobs:create": ["jobs:report"],
  "jobs:write": ["jobs:create", "jobs:report", "jobs:read"],
  "runs:write": ["runs:read"],
};
const HOOK_SCOPES = ["hooks:agent", "hooks:wake", "hooks:ci"] as const;
/** The scopes of the token for a scope: some requests to a route for writing also need the scope for reading. */
const scopesOf = (scope: string) =>
  /^(jobs|runs):write$/.test(scope) ? [scope, scope.replace("write", "read")] : [scope];
const nameOf = (scope: string) => scope.replace(":", "-");

const entries = [
  ...[...SCOPES, ...HOOK_SCOPES].map((scope) => ({
    name: nameOf(scope),
    token: tokenOf(scope),
    scopes: scopesOf(scope),
  })),
  ...SCOPES.filter((scope) => /^(jobs|gates):/.test(scope)).map((scope) => ({
    name: `own-${nameOf(scope)}`,
    tokenSha256: hash("sha256", tokenOf(`own-${scope}`), "hex"),
    scopes: scopesOf(scope),
    jobs: { idPrefix: "own/" },
  })),
  { name: "expired", token: tokenOf("expired"), scopes: ["admin"], expiresAt: "2020-01-01" },
];
const API_TOKENS = ["an-api-token-of-length", "another-api-token-of-length"];
const READ_ONLY = "a-read-only-token-of-length";
const HOOK_TOKENS = ["a-hook-token-of-length", "another-hook-token-of-length"];
const CONFIG = JSON.stringify({
  server: { apiToken: API_TOKENS, readOnlyToken: [READ_ONLY], tokens: entries },
  hooks: { enabled: true, token: HOOK_TOKENS, mappings: [{ match: { path: "ci" } }] },
});

describe("scopes of tokens", () => {
  const app = useSharedApp({ config: CONFIG, countFailure: async () => {} });

  const { hooks } = parseConfig(CONFIG, {});
  const routes = allRoutes(hooks, compileMappings(hooks)).filter(({ path }) => path.startsWith("/api/"));

  /** Sends the example request of a route, with jobs that exist, and returns the status and the code. */
  async function ask(route: AnyRoute, job: string, headers: Record<string, string>): Promise<[number, string]> {
    await app.stores.jobs.put(job, {});
    const params: Record<string, string> = { ...route.example.params, jobId: job };
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "1"));
    const isJson = route.example.body !== undefined;
    const abort = new AbortController();
    const response = await fetch(app.url + path, {
      method: route.method.toUpperCase(),
      headers: { ...headers, ...(isJson && { "Content-Type": "application/json" }) },
      ...(isJson && { body: JSON.stringify(route.example.body) }),
      signal: abort.signal,
    });
    const isProblem = response.headers.get("Content-Type")?.includes("problem");
    const code = isProblem ? ((await response.json()) as { code: string }).code : "";
    if (!isProblem) abort.abort();
    return [response.status, code];
  }

  const includes = (scope: string, needed: readonly string[]) =>
    scope === "admin" || [scope, ...(INCLUDED[scope] ?? [])].some((one) => needed.includes(one));

  for (const route of routes) {
    const hasJob = route.path.includes(":jobId");

    it(`${route.operationId}: ${route.method.toUpperCase()} ${route.path} needs ${route.scopes.join(" or ")}`, async () => {
      expect(route.scopes).to.not.deep.equal([]);
      expect(await ask(route, "own/a", {})).to.deep.equal([401, "unauthorized"]);
      for (const token of [tokenOf("expired"), tokenOf("unknown"), ...HOOK_TOKENS]) {
        const byHookToken = route.operationId === "getRun" && HOOK_TOKENS.includes(token);
        const [, code] = await ask(route, "own/a", bearer(token));
        expect(code === "unauthorized", token).to.equal(!byHookToken);
      }
      for (const token of API_TOKENS) expect((await ask(route, "own/a", bearer(token)))[0]).to.not.be.oneOf([401, 403]);
      const read = await ask(route, "own/a", bearer(READ_ONLY));
      expect(read[1] === "forbidden").to.equal(
        !includes("jobs:read", route.scopes) && !includes("runs:read", route.scopes),
      );
      for (const scope of [...SCOPES, ...HOOK_SCOPES]) {
        const [status, code] = await ask(route, "own/a", bearer(tokenOf(scope)));
        expect(status, scope).to.not.equal(401);
        expect(code === "forbidden", scope).to.equal(!includes(scope, route.scopes));
      }
    });

    if (!hasJob) continue;
    it(`${route.operationId}: is confined to the jobs of the token`, async () => {
      for (const scope of SCOPES.filter((one) => /^(jobs|gates):/.test(one) && includes(one, route.scopes))) {
        const token = bearer(tokenOf(`own-${scope}`));
        const foreign = route.method === "get" ? [404, "job_not_found"] : [403, "forbidden"];

        expect((await ask(route, "own/a", token))[0]).to.not.be.oneOf([401, 403]);
        expect(await ask(route, "foreign/a", token)).to.deep.equal(foreign);
        expect(await ask(route, "ow", token)).to.deep.equal(foreign);
      }
    });

    it(`${route.operationId}: is confined to the job of a job token`, async () => {
      for (const scope of ["report", "read"] as const) {
        await app.stores.jobs.put("own/b", {});
        const { body } = await app.call("POST", "/api/jobs/own%2Fb/token", { scope }, bearer(API_TOKENS[0] as string));
        const token = bearer(body.token);
        const isAllowed = ["jobs:read", ...(scope === "report" ? ["jobs:report"] : [])].some((one) =>
          route.scopes.includes(one as never),
        );

        const [status, code] = await ask(route, "own/b", token);
        expect(status).to.not.equal(401);
        expect(code === "forbidden", scope).to.equal(!isAllowed);
        expect(await ask(route, "own/a", token)).to.deep.equal(
          isAllowed && route.method === "get" ? [404, "job_not_found"] : [403, "forbidden"],
        );
      }
    });
  }

  it("are needed by every route but those of this list", () => {
    const mappings = [{ match: { path: "ci" } }, { match: { path: "graph" }, handshake: "meta", verifyToken: "t" }];
    const everything = parseConfig(
      JSON.stringify({ hooks: { enabled: true, token: HOOK_TOKENS, mappings } }),
      {},
    ).hooks;
    const open = allRoutes(everything, compileMappings(everything)).filter(({ scopes }) => scopes.length === 0);

    expect(open.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).to.deep.equal([
      "DELETE /session",
      "GET /healthz",
      "GET /hooks/*name",
      "GET /readyz",
      "GET /session",
      "POST /session",
    ]);
  });

  it("name the missing scope", async () => {
    const { body } = await app.call("DELETE", "/api/jobs/own%2Fa", undefined, bearer(tokenOf("jobs:read")));

    expect(body.detail).to.include("jobs:write");
  });

  for (const hook of ["agent", "wake", "ci"]) {
    it(`open the hook ${hook} to its own scope and to admin`, async () => {
      const statusWith = async (token: string) =>
        (await app.call("POST", `/hooks/${hook}`, { message: "a", text: "a" }, bearer(token))).status;

      for (const scope of [...SCOPES, ...HOOK_SCOPES]) {
        const status = await statusWith(tokenOf(scope));
        if (["admin", `hooks:${hook}`].includes(scope)) expect(status, scope).to.be.oneOf([200, 202, 400]);
        else expect(status, scope).to.equal(403);
      }
      for (const token of HOOK_TOKENS) expect(await statusWith(token)).to.be.oneOf([200, 202, 400]);
      for (const token of [tokenOf("expired"), ...API_TOKENS, READ_ONLY]) expect(await statusWith(token)).to.equal(401);
    });
  }
});
