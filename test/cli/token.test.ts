import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";

const API = "an-api-token-of-length";
const create = (...args: string[]) => runInProcess(["token", "new", "--name", "ci", ...args], {});

describe("signalbox token new", () => {
  it("prints a token, and the line with which the configuration accepts it for its scopes and jobs", async () => {
    const args = ["--scopes", "jobs:read,jobs:report", "--id-prefix", "ci/", "--expires-at", "2999-06-30"];
    const { code, stdout } = await create(...args);
    const [, token = ""] = /^Token: (\S{16,})$/m.exec(stdout) ?? [];
    const [, line = ""] = /^ {2}(\{ .* \},)$/m.exec(stdout) ?? [];
    const app = await startApp({ config: `{ server: { apiToken: "${API}", tokens: [${line}] } }` });
    const as = (one: string) => ({ Authorization: `Bearer ${one}` });
    const put = (path: string) => app.call("PUT", path, { stepName: "A" }, as(token));

    try {
      for (const id of ["ci%2Fa", "other"]) await app.call("PUT", `/api/jobs/${id}`, {}, as(API));

      expect(code).to.equal(0);
      expect(line).to.not.include(token);
      expect((await put("/api/jobs/ci%2Fa/steps/s")).status).to.equal(201);
      expect((await put("/api/jobs/other/steps/s")).status).to.equal(403);
      expect((await app.call("GET", "/api/runs", undefined, as(token))).body.detail).to.include("runs:read");
    } finally {
      await app.close();
    }
  });

  it("prints another token each time", async () => {
    const [one, other] = [await create("--scopes", "admin"), await create("--scopes", "admin")];

    expect(one.stdout).to.not.equal(other.stdout);
  });

  for (const [args, message] of [
    [["--scopes", "jobs:everything"], /the scopes are jobs:read, jobs:report/],
    [["--scopes", "jobs:read", "--name", "No Name"], /letters a to z/],
    [["--scopes", "jobs:read", "--expires-at", "tomorrow"], /a date such as/],
    [["--scopes", "jobs:read", "--expires-at", "2026-11-31"], /an existing date/],
    [[], /--scopes/],
  ] as const)
    it(`refuses ${args.join(" ") || "a token without scopes"}`, async () => {
      const { code, stderr, stdout } = await create(...args);

      expect(code).to.not.equal(0);
      expect(stderr).to.match(message);
      expect(stdout).to.equal("");
    });
});
