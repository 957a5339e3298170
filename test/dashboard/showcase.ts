import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { report } from "../support/factories.ts";
import { answers, startChannelServer } from "../support/servers/channelServer.ts";
import { says, startModelServer } from "../support/servers/modelServer.ts";
import { startWorker } from "../support/worker.ts";

const MINUTE = 60_000;

interface Script {
  readonly jobId: string;
  readonly name: string;
  readonly body?: object;
  /** The time of its creation, in minutes before now. */
  readonly before: number;
  /** The reports with their time, in minutes before now. */
  readonly reports: readonly (readonly [
    before: number,
    stepKey: string,
    body: { stepName?: string; [field: string]: unknown },
  ])[];
}

const range = (jobProgressStart: number, jobProgressEnd: number) => ({ jobProgressStart, jobProgressEnd });
const done = { status: "completed", progress: 100 };

const SCRIPTS: readonly Script[] = [
  {
    jobId: "nightly-2026-11-20",
    name: "Nightly catalogue import",
    before: 640,
    reports: [
      [640, "fetch", { stepName: "Fetch the feed", progress: 0, ...range(0, 30), message: "Connecting" }],
      [631, "fetch", { ...done, ...range(0, 30), message: "48,212 items fetched" }],
      [631, "apply", { stepName: "Apply the changes", progress: 0, ...range(30, 100) }],
      [
        612,
        "apply",
        { ...done, ...range(30, 100), message: "1,204 products changed, 31 new", output: { changed: 1204, added: 31 } },
      ],
    ],
  },
  {
    jobId: "invoices/2026-10",
    name: "Invoices for October",
    before: 190,
    reports: [
      [
        190,
        "render",
        { stepName: "Render documents", progress: 20, ...range(0, 80), message: "412 of 2,060 rendered" },
      ],
      [
        186,
        "render",
        { status: "failed", failJob: true, message: "The template letterhead-2026.svg cannot be read: no such file" },
      ],
    ],
  },
  {
    jobId: "backup-eu-3",
    name: "Backup of eu-3",
    before: 96,
    reports: [
      [96, "dump", { stepName: "Dump", progress: 10, ...range(0, 50), message: "Dumping orders" }],
      [71, "dump", { progress: 64, ...range(0, 50), message: "Dumping order_lines, 31 of 48 GB" }],
    ],
  },
  {
    jobId: "reindex-support",
    name: "Reindex the support knowledge base",
    before: 52,
    reports: [
      [52, "embed", { stepName: "Embed", progress: 0, ...range(0, 90) }],
      [35, "embed", { ...done, ...range(0, 90), message: "9,871 passages embedded" }],
      [
        34,
        "swap",
        {
          stepName: "Swap the index",
          ...done,
          ...range(90, 100),
          message: "The new index answers",
          output: { passages: 9871 },
        },
      ],
    ],
  },
  {
    jobId: "research-battery-recycling",
    name: "Research: battery recycling in Europe",
    body: {
      description: "For the strategy round on Thursday. Sources since 2024 only.",
      input: {
        question: "Who recycles traction batteries in Europe, at which scale, by which process?",
        depth: 3,
        languages: ["en", "de", "fr"],
      },
      metadata: { team: "strategy", requestedBy: "m.okafor", priority: 2 },
    },
    before: 24,
    reports: [
      [24, "plan", { stepName: "Plan the search", progress: 0, ...range(0, 5), message: "Reading the question" }],
      [23.2, "plan", { ...done, ...range(0, 5), message: "14 searches planned" }],
      [23.1, "collect", { stepName: "Collect sources", progress: 0, ...range(5, 45) }],
      [19, "collect", { progress: 45, ...range(5, 45), message: "61 sources found" }],
      [18, "collect", { status: "failed", message: "The search service answered 502" }],
      [17, "collect", { status: "running", progress: 45, ...range(5, 45), message: "Going on where it stopped" }],
      [13.5, "collect", { ...done, ...range(5, 45), message: "134 sources kept, 58 dropped" }],
      [16.5, "translate", { stepName: "Translate", progress: 0, ...range(45, 50) }],
      [11, "translate", { ...done, ...range(45, 50), message: "47 documents translated" }],
      [13.4, "read", { stepName: "Read and extract", progress: 0, ...range(50, 85) }],
      [2, "read", { progress: 40, ...range(50, 85), message: "54 of 134 sources read" }],
      [10.5, "check", { stepName: "Check figures", progress: 0 }],
      [
        7,
        "check",
        { status: "failed", progress: 30, message: "Two capacities disagree: waiting for the sources to be read" },
      ],
      [
        0.4,
        "read",
        { progress: 62, ...range(50, 85), message: "83 of 134 sources read; Duesenfeld: 11,000 t a year by 2027" },
      ],
    ],
  },
  {
    jobId: "render-trailer-4k",
    name: "Render the trailer in 4K",
    before: 9,
    reports: [
      [9, "frames", { stepName: "Frames", progress: 0, ...range(0, 95) }],
      [0.2, "frames", { progress: 37, ...range(0, 95), message: "Frame 1,332 of 3,600, 2.6 frames a second" }],
    ],
  },
  {
    jobId: "sync-crm",
    name: "Synchronise contacts with the CRM",
    before: 3,
    reports: [
      [3, "pull", { stepName: "Pull", ...done, ...range(0, 40), message: "2,118 contacts pulled" }],
      [1, "push", { stepName: "Push", progress: 71, ...range(40, 100), message: "1,504 of 2,118 contacts pushed" }],
    ],
  },
  { jobId: "c0a1f2de-5b7c-4d2e-9b7e-2f1b7a4f8a61", name: "", before: 1, reports: [] },
];

/** Creates the jobs and their reports at their times, with the service's clock, which ends at the current time. */
async function playJobs(app: TestApp): Promise<void> {
  const acts = SCRIPTS.flatMap(({ jobId, name, body, before, reports }) => {
    const names = Object.fromEntries(reports.flatMap(([, key, { stepName }]) => (stepName ? [[key, stepName]] : [])));
    const path = `/api/jobs/${encodeURIComponent(jobId)}`;
    return [
      { before, order: 0, act: () => app.call("PUT", path, { ...(name && { name }), ...body }) },
      ...reports.map(([at, key, body]) => ({
        before: at,
        order: 1,
        act: () => report(app, path, key, { ...body, stepName: names[key] }),
      })),
    ];
  });
  acts.sort((a, b) => b.before - a.before || a.order - b.order);
  let ahead = 0;
  for (const { before, act } of acts) {
    app.clock.advance(-before * MINUTE - ahead);
    ahead = -before * MINUTE;
    await act();
  }
  app.clock.advance(-ahead);
}

/** The responses of the model server, in the order of `RUNS`. */
const REPLIES = [
  "The build failed in `sum.test.ts`: it expected 3 and got 4.\n\nThe cause is in `sum.ts`, line 12: the loop begins at 0 since commit 8c1f, and counts the header row too. A fix is one line:\n\n```ts\nfor (let at = 1; at < rows.length; at += 1) total += rows[at].amount;\n```\n\nNobody else is affected: the function is used in the monthly report only.",
  "The night was quiet: 3 backups completed, 1 import changed 1,204 products, and the invoices for October failed, because letterhead-2026.svg is missing.",
];

const RUNS = [
  { path: "/hooks/ci", body: { build: 4711, branch: "main", log: "FAIL sum.test.ts\n  expected 3, got 4" } },
  {
    path: "/hooks/agent",
    body: { message: "What happened last night?", name: "Night report", channel: "telegram", to: "7001" },
  },
  { path: "/hooks/agent", body: { message: "Answer the customer", name: "Support", channel: "slack", to: "C0DE" } },
];

const HOOK_TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${HOOK_TOKEN}` };

const configOf = (servers: { model: string; telegram: string }): string => `{
  hooks: { enabled: true, token: "${HOOK_TOKEN}", keepRequests: "7d", mappings: [{
    id: "ci", match: { path: "ci" }, name: "CI", sessionKey: "hook:ci", wakeMode: "next-heartbeat", trackAsJob: true, channel: "telegram", to: "7001",
    messageTemplate: "Build {{build}} on {{branch}} failed:\\n\\n{{log}}",
    instructions: "Say in three sentences what broke, and who is affected.",
  }] },
  agents: {
    defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
    runners: { openai: { baseUrl: "${servers.model}", apiKey: "sk-test" } },
  },
  channels: { telegram: { apiUrl: "${servers.telegram}", botToken: "1:t" } },
  session: { main: { channel: "telegram", to: "7001" } },
  notify: [
    { id: "ops", on: ["job.failed", "job.stale", "job.recovered"], to: { channel: "telegram", to: "7001" }, cooldown: "1h" },
    { id: "look-after", on: ["job.stale"], where: { name: "Backup" }, to: { wake: "next-heartbeat" } },
  ],
  expect: [{ id: "catalogue", name: "Nightly catalogue", every: "1d", grace: "2h" }],
}`;

/**
 * Calls three hooks (one mapped, one delivered, one whose channel is not configured) and returns the ids of their runs.
 */
async function playRuns(app: TestApp): Promise<string[]> {
  const ids: string[] = [];
  for (const { path, body } of RUNS) {
    const { body: answer } = await app.call("POST", path, { wakeMode: "next-heartbeat", ...body }, bearer);
    const [runId] = answer.runIds ?? [answer.runId];
    ids.push(runId);
    const read = async () => (await app.call("GET", `/api/runs/${runId}`)).body.status;
    await eventually(async () => (await read()) === "completed", "the run to end");
  }
  const wake = { text: "The nightly backup of eu-3 is silent", mode: "next-heartbeat" };
  await app.call("POST", "/hooks/wake", wake, bearer);
  return ids;
}

/** Tests a rule and waits for its delivery. */
async function playTest(app: TestApp): Promise<void> {
  await app.call("POST", "/api/notify/ops/test");
  const read = async () => (await app.call("GET", "/api/deliveries?rule=ops&state=sent")).body.deliveries.length;
  await eventually(async () => (await read()) > 0, "the test to be sent");
}

export interface Showcase {
  readonly app: TestApp;
  /** The ids of a mapped run that is tracked as a job, a delivered run, and a run whose delivery failed. */
  readonly runs: readonly string[];
  /** The id of the kept request of the mapped run. */
  readonly request: string;
  close(): Promise<void>;
}

/**
 * Starts a service with jobs, runs, sessions and deliveries of every kind, a worker, a model server and a chat service.
 */
export async function openShowcase(): Promise<Showcase> {
  const model = await startModelServer();
  model.script(...REPLIES.map((text) => says(text)));
  const telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 7001 } } }));
  const app = await startApp({ config: configOf({ model: model.url, telegram: telegram.url }) });
  const worker = await startWorker(app);
  await playJobs(app);
  const runs = await playRuns(app);
  await app.call("POST", "/api/jobs/backup-eu-3/token", { scope: "read" });
  await playTest(app);
  const kept = await app.stores.hookRequests.collection.native.findOne();
  return {
    app,
    runs,
    request: kept?._id ?? "",
    async close() {
      await worker.close();
      await app.close();
      await telegram.close();
      await model.close();
    },
  };
}

/** Returns the paths of all pages with content, each with words that appear once it is loaded. */
export const pagesOf = ({
  runs,
  request,
}: Pick<Showcase, "runs" | "request">): readonly (readonly [path: string, words: string])[] => [
  ["/", "Backup of eu-3"],
  ["/?name=nothing&metadata.team=sales", "No jobs with metadata.team = sales"],
  ["/jobs/research-battery-recycling", "Collect sources"],
  ["/jobs/backup-eu-3", "No report for"],
  ["/jobs/reindex-support?step=swap", "First reported"],
  ["/jobs/nobody", "Job not found"],
  ["/runs", "Night report"],
  [`/runs/${runs[0]}`, "Say in three sentences"],
  [`/runs/${runs[2]}`, "is not configured"],
  ["/requests", "Started 1 run"],
  [`/requests/${request}`, "hook-token: valid"],
  ["/requests/none", "Request not found"],
  ["/deliveries", "is not configured"],
  ["/sessions", "hook:ci"],
  ["/sessions/main", "Events waiting for the main session"],
  ["/sessions/hook%3Aci", "Build 4711"],
  ["/notify", "All deliveries of ops"],
  ["/channels", "Not configured"],
  ["/audit", "backup-eu-3"],
  ["/settings", "Configuration in force"],
];
