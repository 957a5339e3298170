import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import JSON5 from "json5";
import { Webhook } from "standardwebhooks";
import github from "../../examples/transforms/github.ts";
import slackMention from "../../examples/transforms/slackMention.js";
import stripe from "../../examples/transforms/stripe.ts";
import { unfenced } from "../../src/agents/prompt/fence.ts";
import type { Transform } from "../../src/hooks/transforms/transform.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { type ModelServer, startModelServer } from "../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const PAGE = readFileSync("examples/senders/README.md", "utf8");

/** Returns the code blocks of a language in a text. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}(?: no-run)?\n([^]*?)^\`\`\``, "gm"))].map(
    ([, block]) => block as string,
  );

const section = (title: string): string => PAGE.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) as string;

/** Builds the page's configuration with all its entries, and a different secret in each variable. */
function configuration(more: object): string {
  const [frame = "", ...entries] = blocks(PAGE, "json5");
  const text = frame
    .replace("// here", () => entries.join(""))
    .replace(/\$\{(\w+)\}/g, (_, name: string) => `whsec_${Buffer.from(name.padEnd(24, ".")).toString("base64")}`);
  const config = JSON5.parse(text);
  return JSON.stringify({
    ...config,
    ...more,
    hooks: { ...config.hooks, transformsDir: resolve("examples/transforms") },
  });
}

const body = (name: string) => readFileSync(`test/examples/senders/${name}.json`, "utf8");

const hmac = (secret: string, ...texts: string[]) => createHmac("sha256", secret).update(texts.join("")).digest("hex");
const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

/** Returns the headers with which a sender signs a body. */
type Prove = (secret: string, body: string, now: Date) => Record<string, string>;

const byGithub =
  (event: string): Prove =>
  (secret, text) => ({ "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${hmac(secret, text)}` });
const byStripe: Prove = (secret, text, now) => ({
  "Stripe-Signature": `t=${seconds(now)},v1=${hmac(secret, `${seconds(now)}.`, text)}`,
});
const bySentry: Prove = (secret, text, now) => ({
  "Sentry-Hook-Resource": "event_alert",
  "Sentry-Hook-Timestamp": `${seconds(now)}`,
  "Sentry-Hook-Signature": hmac(secret, text),
});
const byToken: Prove = (token) => ({ Authorization: `Bearer ${token}` });
const bySlack: Prove = (secret, text, now) => ({
  "X-Slack-Request-Timestamp": `${seconds(now)}`,
  "X-Slack-Signature": `v0=${hmac(secret, `v0:${seconds(now)}:`, text)}`,
});
const byStandard: Prove = (secret, text, now) => ({
  "webhook-id": "msg_1",
  "webhook-timestamp": `${seconds(now)}`,
  "webhook-signature": new Webhook(secret).sign("msg_1", now, text),
});

interface Sender {
  readonly title: string;
  readonly path: string;
  readonly sends: readonly (readonly [body: string, prove: Prove])[];
  /** Names and session keys of the runs, in the order of the texts on the page. */
  readonly runs: readonly (readonly [name: string, sessionKey: string])[];
  /** Whether a repeated request has no effect. */
  readonly once: boolean;
}

const REPOSITORY = ["GitHub Codertocat/Hello-World", "hook:github:Codertocat/Hello-World"] as const;
const CUSTOMER = ["Stripe", "hook:stripe:cus_0000000000000001"] as const;

const SENDERS: Sender[] = [
  {
    title: "GitHub",
    path: "github",
    sends: [
      ["github-push", byGithub("push")],
      ["github-issues", byGithub("issues")],
      ["github-workflow-run", byGithub("workflow_run")],
    ],
    runs: [REPOSITORY, REPOSITORY, REPOSITORY],
    once: false,
  },
  {
    title: "Stripe",
    path: "stripe",
    sends: [
      ["stripe-payment-intent", byStripe],
      ["stripe-invoice", byStripe],
    ],
    runs: [CUSTOMER, CUSTOMER],
    once: true,
  },
  {
    title: "Sentry",
    path: "sentry",
    sends: [["sentry-issue-alert", bySentry]],
    runs: [["Sentry ReferenceError: heck is not defined", "hook:sentry:1117540176"]],
    once: false,
  },
  {
    title: "Grafana",
    path: "grafana",
    sends: [["grafana", byToken]],
    runs: [
      ["Grafana High memory usage", "hook:grafana:c6eadffa33fcdf37"],
      ["Grafana High CPU usage", "hook:grafana:bc97ff14869b13e3"],
    ],
    once: false,
  },
  {
    title: "Alertmanager",
    path: "alertmanager",
    sends: [["alertmanager", byToken]],
    runs: [
      ["Alert InstanceDown", "hook:alertmanager:1f2e3d4c5b6a7980"],
      ["Alert InstanceDown", "hook:alertmanager:0897a6b5c4d3e2f1"],
    ],
    once: false,
  },
  {
    title: "Slack",
    path: "slack",
    sends: [["slack-app-mention", bySlack]],
    runs: [["Slack C123ABC456", "hook:slack:C123ABC456"]],
    once: true,
  },
  {
    title: "Standard Webhooks",
    path: "contacts",
    sends: [["standard-webhooks", byStandard]],
    runs: [["Contacts contact.created", "hook:contacts:1f81eb52-5198-4599-803e-771906343485"]],
    once: true,
  },
];

describe("examples/senders/README.md", () => {
  let model: ModelServer;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    model = await startModelServer();
    app = await startApp({
      config: configuration({
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
          runners: { openai: { baseUrl: model.url } },
        },
        session: { main: { channel: "log", to: "me" } },
        channels: { log: {} },
      }),
    });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await model.close();
  });

  const mappingOf = (path: string) => app.config.hooks.mappings.find(({ match }) => match?.path === path);
  const proof = (path: string, prove: Prove, text: string) => {
    const { secret, token } = mappingOf(path)?.auth ?? {};
    return prove(secret ?? token ?? "", text, app.clock.now());
  };
  const post = async (path: string, text: string, headers: Record<string, string>): Promise<string[]> => {
    const { status, body: answer } = await app.call("POST", `/hooks/${path}`, text, headers);
    expect(status, JSON.stringify(answer)).to.equal(202);
    return answer.runIds;
  };
  const ended = (runId: string) =>
    eventually(async () => {
      const { body: run } = await app.call("GET", `/api/runs/${runId}`);
      return ["completed", "failed", "dropped"].includes(run.status) && run;
    }, `run ${runId} to end`);
  const prompts = (): string[] => model.requests.map((request) => request.body.messages.at(-1).content);

  for (const { title, path, sends, runs, once } of SENDERS) {
    it(`turns signed bodies of ${title} into the runs and prompts that the page shows`, async () => {
      const texts = blocks(section(title), "text").map((text) => text.trimEnd());
      const runIds: string[] = [];

      for (const [name, prove] of sends) {
        const headers = proof(path, prove, body(name));
        const ids = await post(path, body(name), headers);
        if (once) expect(await post(path, body(name), headers)).to.deep.equal(ids);
        runIds.push(...ids);
      }
      const made = await Promise.all(runIds.map(ended));

      expect(made.map(({ status, error }) => error ?? status)).to.deep.equal(runs.map(() => "completed"));
      expect(made.map(({ name, sessionKey }) => [name, sessionKey])).to.deep.equal(runs);
      const instructions = mappingOf(path)?.instructions;
      const told = prompts().filter(
        (prompt) => prompt.startsWith(`${instructions}\n\n`) && texts.includes(unfenced(prompt)),
      );
      expect(told.map(unfenced)).to.have.members(texts);
    });
  }

  it("confirms the address to Slack, and replies in the channel of the mention", async () => {
    const text = body("slack-url-verification");

    const confirmed = await app.call("POST", "/hooks/slack", text, proof("slack", bySlack, text));
    const mention = body("slack-app-mention").replace("Ev123ABC456", "Ev123ABC457");
    const [runId = ""] = await post("slack", mention, proof("slack", bySlack, mention));

    expect(confirmed).to.deep.include({ status: 200, body: { challenge: JSON.parse(text).challenge } });
    const [delivery] = await eventually(async () => {
      const { deliveries } = await ended(runId);
      return deliveries.length > 0 && deliveries;
    }, "the delivery");
    expect(delivery).to.include({ channel: "slack", to: "C123ABC456" });
  });

  it("wakes the main session for curl from cron, once for each key", async () => {
    const [command = ""] = blocks(section("Cron"), "sh");
    const text = /-d '(.*)'/.exec(command)?.[1] ?? "";
    const [, path = ""] = /127\.0\.0\.1:3000\/hooks\/(\S+)/.exec(command) ?? [];
    const [, key = ""] = /"Idempotency-Key: (.*?)"/.exec(command) ?? [];
    const headers = { Authorization: `Bearer ${app.config.hooks.token}`, "Idempotency-Key": key };

    const [runId = ""] = await post(path, text, headers);
    const again = await post(path, text, headers);

    expect(again).to.deep.equal([runId]);
    expect(await ended(runId)).to.include({ kind: "wake", status: "completed", name: "Cron", sessionKey: "main" });
    const [told = ""] = blocks(section("Cron"), "text");
    await eventually(() => prompts().some((prompt) => prompt.includes(told)), "the main session's turn");
  });
});

describe("transforms of examples/senders/README.md", () => {
  const call = <Body extends object>(transform: Transform<Body>, payload: object, event?: string) =>
    transform({ payload: payload as Body, headers: { "x-github-event": event }, url: "/", path: "", query: {} });
  const [push, issue, workflowRun, payment, invoice, mention] = [
    ...["github-push", "github-issues", "github-workflow-run"],
    ...["stripe-payment-intent", "stripe-invoice", "slack-app-mention"],
  ].map((name) => JSON.parse(body(name)));
  const ran = (fields: object) => ({ ...workflowRun, workflow_run: { ...workflowRun.workflow_run, ...fields } });

  const dropped: [title: string, outcome: () => unknown][] = [
    ["GitHub's ping", () => call(github, { zen: "Keep it logically awesome.", hook_id: 1 }, "ping")],
    ["a push to another branch", () => call(github, { ...push, ref: "refs/heads/topic" }, "push")],
    ["a tag", () => call(github, { ...push, ref: "refs/tags/v1" }, "push")],
    ["a deleted branch", () => call(github, { ...push, deleted: true, commits: [] }, "push")],
    ["an issue that is closed", () => call(github, { ...issue, action: "closed" }, "issues")],
    ["a workflow run that begins", () => call(github, { ...workflowRun, action: "requested" }, "workflow_run")],
    ["a successful workflow run", () => call(github, ran({ conclusion: "success" }), "workflow_run")],
    ["another event of Stripe", () => call(stripe, { ...payment, type: "payment_intent.succeeded" })],
    ["a message of a bot in Slack", () => call(slackMention, { event: { ...mention.event, bot_id: "B1" } })],
    ["another event of Slack", () => call(slackMention, { event: { ...mention.event, type: "message" } })],
  ];
  for (const [title, outcome] of dropped) {
    it(`drop ${title}`, () => {
      expect(outcome()).to.equal(null);
    });
  }

  const sparse: [title: string, outcome: () => unknown, message: string][] = [
    [
      "a push of many commits",
      () => call(github, { ...push, commits: Array(12).fill(push.commits[0]) }, "push"),
      "- and 2 more\n",
    ],
    [
      "an issue without a body",
      () => call(github, { ...issue, issue: { ...issue.issue, body: null } }, "issues"),
      "/issues/1",
    ],
    [
      "a workflow run without branch and commit",
      () => call(github, ran({ conclusion: "timed_out", head_branch: null, head_commit: null }), "workflow_run"),
      "ended with timed_out on no branch.\nhttps:",
    ],
    [
      "a payment without a reason",
      () => call(stripe, { ...payment, data: { object: { ...payment.data.object, last_payment_error: null } } }),
      "failed.\nFor: Order 7",
    ],
    [
      "a draft that is not tried again",
      () =>
        call(stripe, {
          ...invoice,
          data: { object: { ...invoice.data.object, number: null, next_payment_attempt: null } },
        }),
      "in_0000000000000001 failed.\nOpen: 1000 USD (in the smallest unit, such as cents), after attempt 1\nStripe will not try again.",
    ],
  ];
  for (const [title, outcome, message] of sparse) {
    it(`accept ${title}`, () => {
      expect(outcome()).to.have.property("message").that.includes(message);
    });
  }
});
