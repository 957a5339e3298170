import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";
import { startApp, type TestApp } from "../support/app.ts";
import { documentBlocks } from "../support/documentBlocks.ts";

const TOKEN = "a-token-of-a-workflow-of-length";
const CONFIG = JSON.stringify({
  server: { apiToken: "an-api-token-of-length", tokens: [{ name: "ci", token: TOKEN, scopes: ["jobs:create"] }] },
});
const AUTH = { Authorization: "Bearer an-api-token-of-length" };
const AWAY = "http://127.0.0.1:9";

interface Step {
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number>>;
  readonly shell?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const action = parse(readFileSync("action/action.yml", "utf8")) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

/** The variables that GitHub's runner sets for every step. */
const GITHUB = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "octo/shop",
  GITHUB_WORKFLOW: 'The "CI"',
  GITHUB_JOB: "test",
  GITHUB_REF_NAME: "main",
  GITHUB_SHA: "5c7ff064",
  GITHUB_RUN_ID: "9",
  GITHUB_RUN_ATTEMPT: "2",
  GITHUB_ACTION_PATH: resolve("action"),
};

describe("the GitHub Action", () => {
  let app: TestApp;
  let home: string;
  let environment: string;
  before(async () => {
    app = await startApp({ config: CONFIG });
    home = mkdtempSync(join(tmpdir(), "signalbox-action-"));
    environment = join(home, "env");
  });
  beforeEach(() => writeFileSync(environment, ""));
  after(async () => {
    await app.close();
    rmSync(home, { recursive: true });
  });

  /** Runs a script with what the steps before have written to GITHUB_ENV. */
  const run = async (step: Step, env: Readonly<Record<string, string>> = {}) => {
    const kept = parseEnv(readFileSync(environment, "utf8"));
    const { shell = "bash", run = "" } = step;
    const child = spawn(shell, ["-e", "-c", run], {
      env: {
        ...GITHUB,
        ...kept,
        ...env,
        GITHUB_ENV: environment,
        PATH: `${home}${delimiter}${process.env.PATH}`,
        no_proxy: "*",
      } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { code, stdout, stderr };
  };

  /** Runs the action's steps with inputs, as GitHub's runner does. */
  const use = async (inputs: Readonly<Record<string, string | number>>) => {
    const defaults = Object.entries(action.inputs).map(([name, { default: value = "" }]) => [name, value]);
    const all: Record<string, string> = { ...Object.fromEntries(defaults), url: app.url, token: TOKEN, ...inputs };
    const evaluated = (expression: string) =>
      String(all[/inputs\.(\w+)/.exec(expression)?.[1] ?? ""] || (expression.includes("format(") ? "9-2-test-0" : ""));
    const [step] = action.runs.steps;
    const env = Object.entries(step?.env ?? {}).map(([name, expression]) => [name, evaluated(expression)]);
    return run(step as Step, Object.fromEntries(env));
  };
  const job = async (id = "9-2-test-0") =>
    (await app.call("GET", `/api/jobs/${id}?include=steps`, undefined, AUTH)).body;

  it("is a composite action of one step, whose script has no expressions and whose inputs are all used", () => {
    const { using, steps } = action.runs;
    const used = Object.values(steps[0]?.env ?? {}).map((value) => /inputs\.(\w+)/.exec(value)?.[1]);

    expect([using, steps.length]).to.deep.equal(["composite", 1]);
    expect(steps[0]?.run).to.not.include("${{");
    expect(used).to.have.members(Object.keys(action.inputs));
  });

  /** Runs the workflow of the page with npm replaced by a script, and returns the exit codes of its own steps. */
  const runPage = async (npm: string) => {
    writeFileSync(join(home, "npm"), `#!/bin/sh\n${npm}\n`);
    chmodSync(join(home, "npm"), 0o755);
    const page = "docs/how-to/report-from-github-actions.md";
    const { code = "" } = documentBlocks(page).find(({ language }) => language === "yaml") ?? {};
    const [{ steps }] = Object.values(parse(code).jobs) as [{ steps: Step[] }];
    const values: Record<string, string> = { "vars.SIGNALBOX_URL": app.url, "secrets.SIGNALBOX_TOKEN": TOKEN };
    const evaluate = (value: unknown): string =>
      String(value).replace(/\$\{\{ (\S+) \}\}/g, (_, name) => values[name] ?? `${name}?`);
    values["job.status"] = "success";
    const codes: unknown[] = [];
    for (const step of steps) {
      if (values["job.status"] !== "success" && step.if !== "always()") continue;
      if (step.run) {
        const { code } = await run(step);
        codes.push(code);
        if (code !== 0) values["job.status"] = "failure";
      }
      if (!step.uses?.includes("/action@")) continue;
      const inputs = Object.entries(step.with ?? {}).map(([name, value]) => [name, evaluate(value)]);
      expect(action.inputs).to.include.keys(inputs.map(([name = ""]) => name));
      expect(await use(Object.fromEntries(inputs))).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    }
    return codes;
  };

  it("reports the steps and the success of the workflow on its page", async () => {
    const codes = await runPage("exit 0");

    const ended = await job();
    expect(codes).to.deep.equal([0, 0]);
    expect(ended).to.include({ name: 'octo/shop: The "CI" / test', status: "completed", progress: 100 });
    expect(ended.output).to.deep.equal({ status: "success" });
    expect(ended.metadata).to.deep.equal({ repository: "octo/shop", ref: "main", sha: "5c7ff064" });
    expect(ended.links[0].url).to.equal("https://github.com/octo/shop/actions/runs/9/attempts/2");
    expect(ended.steps.map(({ stepName, status }: Record<string, string>) => [stepName, status])).to.deep.equal([
      ["Install", "completed"],
      ["Test", "completed"],
    ]);
    await app.call("DELETE", "/api/jobs/9-2-test-0", undefined, AUTH);
  });

  it("fails the job with the step of the workflow that fails", async () => {
    const codes = await runPage('test "$1" = ci');

    const ended = await job();
    expect(codes).to.deep.equal([0, 1]);
    expect(ended).to.include({ status: "failed", message: "failure", progress: 40 });
    expect(ended.steps.map(({ status }: { status: string }) => status)).to.deep.equal(["completed", "failed"]);
    await app.call("DELETE", "/api/jobs/9-2-test-0", undefined, AUTH);
  });

  it("sends any text as it is, and as one line", async () => {
    await use({ job: "texts", step: 'Say "hi" \\ & $(exit 1)', message: "Zwölf\nof\t20 'files'", percent: 5 });
    const started = await job("texts");
    await use({ job: "texts", message: "@all", percent: 40 });
    const later = await job("texts");

    const [step] = started.steps;
    expect([step.stepName, step.message]).to.deep.equal(['Say "hi" \\ & $(exit 1)', "Zwölf of 20 'files'"]);
    expect(started.progress).to.equal(5);
    expect([later.message, later.progress, later.steps.length]).to.deep.equal(["@all", 40, 1]);
  });

  it("takes a cancelled workflow without steps for a failed job", async () => {
    await use({ job: "cancelled", status: "cancelled" });

    const { status, message, steps } = await job("cancelled");
    expect([status, message, steps[0].stepName]).to.deep.equal(["failed", "cancelled", "test"]);
  });

  it("leaves a warning and never fails the workflow", async () => {
    const tries = [
      { url: AWAY },
      { token: "another-token-of-length" },
      { job: "a/b" },
      { percent: "1e1" },
      { percent: "08" },
      { percent: 100 },
    ];
    for (const inputs of tries) {
      const { code, stdout, stderr } = await use({ job: "refused", step: "Test", ...inputs });

      expect(code, JSON.stringify(inputs)).to.equal(0);
      expect(stdout, JSON.stringify(inputs)).to.match(/^::warning::.*\n$/);
      expect(stdout + stderr).to.not.include("another-token");
    }
    expect((await job("refused")).code).to.equal("job_not_found");
    expect(readFileSync(environment, "utf8")).to.equal("");
  });
});
