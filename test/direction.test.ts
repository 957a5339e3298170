import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);

/** One file of the project that is checked, and the rules that it breaks. */
type Case = readonly [file: string, source: string, broken: readonly string[]];

const REFUSED: readonly Case[] = [
  ["src/api/value.ts", 'import "../workers/runWorkers.ts";', ["api-imports"]],
  ["src/api/type.ts", 'import type { T } from "../workers/runWorkers.ts";', ["api-imports"]],
  ["src/api/export.ts", 'export type { T } from "../workers/runWorkers.ts";', ["api-imports"]],
  ["src/api/dynamic.ts", 'export const load = () => import("../workers/runWorkers.ts");', ["api-imports"]],
  ["src/api/pages/dashboard.ts", 'import "../../dashboard/data/store.ts";', ["api-imports"]],
  ["src/workers/api.ts", 'import "../api/app.ts";', ["workers-imports"]],
  ["src/cli/workers.ts", 'import "../workers/runWorkers.ts";', ["cli-imports"]],
  ["src/shared/models.ts", 'import type { T } from "../models/jobs/job.ts";', ["shared-imports"]],
  ["src/hooks/thread.mjs", 'import "../models/jobs/job.ts";', ["hooks-imports"]],
  ["src/dashboard/page.tsx", 'import "../shared/clock.ts"; export const page = <p />;', ["dashboard-imports"]],
  ["src/client/shared.ts", 'import "../shared/clock.ts";', ["client-imports"]],
  ["src/client/run.ts", 'import type { Run } from "../wire/runs/run.ts";', ["client-without-wire"]],
  [
    "src/client/calls/schema.ts",
    'import { Run } from "../../wire/runs/run.ts"; export type R = Run;',
    ["wire-types-only"],
  ],
  ["src/models/jobs/test.ts", 'import "../../../test/support.ts";', ["models-imports"]],
  ["src/models/jobs/run.ts", 'import type { R } from "../runs/runs.ts";', ["models-jobs-imports"]],
  ["src/models/jobs/stores.ts", 'import type { S } from "../stores.ts";', ["models-jobs-imports"]],
  ["src/models/db/job.ts", 'import "../jobs/step.ts";', ["models-db-imports"]],
  ["src/models/newSubject/thing.ts", 'import "../jobs/step.ts";', ["unlisted-subject"]],
  ["src/newThing/thing.ts", 'import "../shared/clock.ts";', ["unlisted-folder"]],
  ["src/api/newThing.ts", 'import "../newThing/thing.ts";', ["api-imports"]],
  ["src/client/node.ts", 'import "node:fs";', ["client-without-packages"]],
  ["src/client/package.ts", 'import "koa";', ["client-without-packages", "koa-in-api"]],
  ["src/api/mongoose.ts", 'import { mongo } from "mongoose";', ["mongoose-in-models"]],
  ["src/models/jobs/koa.ts", 'import type { Middleware } from "koa";', ["koa-in-api"]],
  ["src/models/jobs/router.ts", 'import Router from "@koa/router";', ["koa-in-api"]],
  ["src/api/bullmq.ts", 'import { Queue } from "bullmq";', ["bullmq-in-queue"]],
  ["src/workers/runs/turn.ts", 'import { Worker } from "bullmq";', ["bullmq-in-queue"]],
  ["src/models/jobs/job.ts", 'import type { StepDoc } from "./step.ts"; export type Status = string;', ["no-cycles"]],
  ["src/models/jobs/missing.ts", 'import "./nowhere.ts";', ["no-unresolved"]],
];

const ALLOWED: readonly Case[] = [
  [
    "src/api/app.ts",
    'import "../models/jobs/step.ts"; import "../shared/clock.ts"; import "koa"; import "node:fs";',
    [],
  ],
  ["src/models/runs/track.ts", 'import "../jobs/step.ts"; export type R = string;', []],
  ["src/models/stores.ts", 'import "./jobs/step.ts"; import "./runs/track.ts"; export type S = string;', []],
  ["src/api/status.ts", 'import "../gmail/mail/mailboxStatus.ts"; import "../dashboard/paths.ts";', []],
  ["src/client/calls/type.ts", 'import type { Run } from "../../wire/runs/run.ts"; export type R = Run;', []],
  ["src/shared/queue/producer.ts", 'import "bullmq"; import "../clock.ts"; import "../../../package.json";', []],
  ["src/workers/runWorkers.ts", 'import "bullmq"; import "../shared/queue/producer.ts"; export type T = string;', []],
  [
    "test/any.test.ts",
    'import "koa"; import "bullmq"; import "../src/api/app.ts"; import "../src/workers/runWorkers.ts";',
    [],
  ],
];

const REST = {
  "src/models/jobs/step.ts": 'import type { Status } from "./job.ts"; import "mongoose";',
  "src/models/runs/runs.ts": "export type R = string;",
  "src/shared/clock.ts": "",
  "src/wire/runs/run.ts": "",
  "src/dashboard/data/store.ts": "",
  "src/dashboard/paths.ts": "",
  "src/gmail/mail/mailboxStatus.ts": "",
  "test/support.ts": "",
  "package.json": "{}",
  ...Object.fromEntries(
    ["koa", "@koa/router", "bullmq", "mongoose"].map((name) => [`node_modules/${name}/index.js`, ""]),
  ),
};

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

describe(".dependency-cruiser.mjs", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-direction-"));
  after(() => rmSync(dir, { recursive: true }));

  let violations: readonly Violation[];
  before(async () => {
    const written = Object.fromEntries([...REFUSED, ...ALLOWED].map(([file, source]) => [file, source]));
    for (const [file, source] of Object.entries({ ...REST, ...written })) {
      mkdirSync(join(dir, dirname(file)), { recursive: true });
      writeFileSync(join(dir, file), source);
    }
    const bin = resolve("node_modules/.bin/depcruise");
    const args = ["--config", resolve(".dependency-cruiser.mjs"), "--output-type", "json", "src", "test"];
    const { stdout } = await run(bin, args, { cwd: dir, maxBuffer: 16 * 1024 * 1024 });
    violations = JSON.parse(stdout).summary.violations;
  });

  const brokenBy = (file: string) => violations.filter(({ from }) => from === file).map(({ rule }) => rule.name);

  for (const [file, source, broken] of REFUSED) {
    it(`${file}: refuses ${source}`, () => {
      expect(brokenBy(file)).to.have.members(broken);
    });
  }

  for (const [file, source] of ALLOWED) {
    it(`${file}: allows ${source}`, () => {
      expect(brokenBy(file)).to.deep.equal([]);
    });
  }
});
