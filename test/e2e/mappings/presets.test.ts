import { createHmac, generateKeyPairSync, type KeyPairKeyObjectResult, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { SENDERS } from "../../../src/config/mappings/mapping.ts";
import { fenced, MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";

type Body = Record<string, unknown>;

/**
 * Returns a body as its sender documents it:
 * - github: https://github.com/octokit/webhooks, shortened
 * - gitlab: https://docs.gitlab.com/user/project/integrations/webhooks/, shortened
 * - stripe: https://github.com/stripe/openapi/blob/master/openapi/fixtures3.json, in an event
 * - sentry: https://docs.sentry.io/integrations/integration-platform/webhooks/issue-alerts/
 * - grafana: https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 * - alertmanager: https://prometheus.io/docs/alerting/latest/configuration/
 * - pagerduty: https://developer.pagerduty.com/docs/webhooks-v3-overview
 * - linear: https://github.com/korosuke613/linear-webhook (README), which recorded it
 * - sendgrid: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event, with names and ids replaced
 */
const read = (file: string): Body => JSON.parse(readFileSync(`test/examples/${file}.json`, "utf8"));

const secretOf = (sender: string): string => `the-secret-of-${sender}`;

const hmac = (secret: string, ...texts: string[]) => createHmac("sha256", secret).update(texts.join("")).digest("hex");

/** Returns the headers with which a sender authenticates a body. */
type Prove = (secret: string, body: string) => Record<string, string>;

const byGithub =
  (event: string): Prove =>
  (secret, body) => ({ "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${hmac(secret, body)}` });
const bySentry =
  (resource: string): Prove =>
  (secret, body) => ({ "Sentry-Hook-Resource": resource, "Sentry-Hook-Signature": hmac(secret, body) });
const byBearer: Prove = (token) => ({ Authorization: `Bearer ${token}` });
const byGitlab: Prove = (token) => ({ "X-Gitlab-Token": token });
const byPagerduty: Prove = (secret, body) => ({
  "X-PagerDuty-Signature": `v1=${hmac("an older secret", body)},v1=${hmac(secret, body)}`,
});
const sendgridKeys = new Map<string, KeyPairKeyObjectResult>();
/** Returns the keys that belong to a secret. */
function sendgridKeysOf(secret: string): KeyPairKeyObjectResult {
  const keys = sendgridKeys.get(secret) ?? generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  sendgridKeys.set(secret, keys);
  return keys;
}
const bySendgrid: Prove = (secret, body) => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign("sha256", Buffer.from(timestamp + body), sendgridKeysOf(secret).privateKey);
  return {
    "X-Twilio-Email-Event-Webhook-Signature": signature.toString("base64"),
    "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
  };
};
const byLinear: Prove = (secret, body) => ({ "Linear-Signature": hmac(secret, body) });

interface Sent {
  readonly sender: (typeof SENDERS)[number];
  readonly title: string;
  readonly body: Body;
  readonly prove: Prove;
}

interface Taken extends Sent {
  readonly name: string;
  readonly sessionKey: string;
  readonly message: string;
}

describe("presets of senders", () => {
  let fixture: MappedHookFixture;
  let byStripe: Prove;
  before(async () => {
    fixture = await MappedHookFixture.start(
      ["github", "stripe", "sentry", "pagerduty", "linear"]
        .map((preset): object => ({ preset, auth: { secret: secretOf(preset) }, deliver: false }))
        .concat(
          ["gitlab", "grafana", "alertmanager"].map((preset) => ({
            preset,
            auth: { token: secretOf(preset) },
            deliver: false,
          })),
          {
            preset: "sendgrid",
            deliver: false,
            auth: {
              publicKey: sendgridKeysOf(secretOf("sendgrid"))
                .publicKey.export({ format: "der", type: "spki" })
                .toString("base64"),
            },
          },
          {
            preset: "gitlab",
            match: { path: "gitlab/headers" },
            auth: { token: secretOf("gitlab/headers") },
            sessionKey: "hook:gitlab-headers",
            messageTemplate: "Token [{{headers.x-gitlab-token}}] of {{headers.x-gitlab-event}}",
          },
        ),
    );
    byStripe = (secret, body) => {
      const at = Math.floor(fixture.app.clock.now().getTime() / 1000);
      return { "Stripe-Signature": `t=${at},v1=${hmac(secret, `${at}.`, body)}` };
    };
  });
  after(() => fixture.close());

  const post = (sender: string, body: Body, prove: Prove, secret = secretOf(sender)) => {
    const text = JSON.stringify(body);
    return fixture.app.call("POST", `/hooks/${sender}`, text, prove(secret, text));
  };
  const stripe: Prove = (secret, body) => byStripe(secret, body);

  const taken: Taken[] = [
    {
      sender: "github",
      title: "a new issue",
      prove: byGithub("issues"),
      body: read("senders/github-issues"),
      name: "GitHub Codertocat/Hello-World",
      sessionKey: "hook:github:Codertocat/Hello-World",
      message: `issues opened in Codertocat/Hello-World by Codertocat
#1 Spelling error in the README file
https://github.com/Codertocat/Hello-World/issues/1
Text: It looks like you accidently spelled 'commit' with two 't's.
Comment or review:  `,
    },
    {
      sender: "github",
      title: "a comment",
      prove: byGithub("issue_comment"),
      body: read("presets/github-issue-comment"),
      name: "GitHub Codertocat/Hello-World",
      sessionKey: "hook:github:Codertocat/Hello-World",
      message: `issue_comment created in Codertocat/Hello-World by Codertocat
#1 Spelling error in the README file
https://github.com/Codertocat/Hello-World/issues/1
Text: It looks like you accidently spelled 'commit' with two 't's.
Comment or review:  You are totally right! I'll get this fixed right away.`,
    },
    {
      sender: "gitlab",
      title: "a merge request",
      prove: byGitlab,
      body: read("presets/gitlab-merge-request"),
      name: "GitLab gitlabhq/gitlab-test",
      sessionKey: "hook:gitlab:gitlabhq/gitlab-test",
      message: `merge_request open in gitlabhq/gitlab-test by root
MS-Viewport
http://example.com/diaspora/merge_requests/1
Text: Sets the viewport of the page.
Comment: `,
    },
    {
      sender: "gitlab",
      title: "a comment",
      prove: byGitlab,
      body: read("presets/gitlab-note"),
      name: "GitLab gitlabhq/gitlab-test",
      sessionKey: "hook:gitlab:gitlabhq/gitlab-test",
      message: `note create in gitlabhq/gitlab-test by root
test
http://example.com/gitlab-org/gitlab-test/issues/17#note_1241
Text: 
Comment: Hello world`,
    },
    {
      sender: "stripe",
      title: "a failed payment",
      prove: stripe,
      body: read("senders/stripe-payment-intent"),
      name: "Stripe payment_intent.payment_failed",
      sessionKey: "hook:stripe:cus_0000000000000001",
      message: `payment_intent.payment_failed: payment_intent pi_0000000000000001
Customer: cus_0000000000000001, live mode: false
Amount in the smallest unit, such as cents: 1099 usd
Reason: Your card has insufficient funds.
Code: card_declined insufficient_funds
Order 7 `,
    },
    {
      sender: "sentry",
      title: "an issue alert",
      prove: bySentry("event_alert"),
      body: read("senders/sentry-issue-alert"),
      name: "Sentry ReferenceError: heck is not defined",
      sessionKey: "hook:sentry:1117540176",
      message: `ReferenceError: heck is not defined
Rule: Very Important Alert Rule!
Level: error, platform: javascript
Where: ?(<anonymous>), https://null.jsbin.com/runner
https://sentry.io/organizations/test-org/issues/1117540176/events/e4874d664c3540c1a32eab185f12c5ab/`,
    },
    {
      sender: "grafana",
      title: "a firing alert",
      prove: byBearer,
      body: read("senders/grafana"),
      name: "Grafana High memory usage",
      sessionKey: "hook:grafana:c6eadffa33fcdf37",
      message: `High memory usage: firing, began 2021-10-12T09:51:03.157076+02:00
This alert was triggered for zone us-1
The system has high memory usage
Labels: {"alertname":"High memory usage","team":"blue","zone":"us-1"}
Values: {"B":44.23943737541908,"C":1}
https://play.grafana.org/alerting/1afz29v7z/edit`,
    },
    {
      sender: "alertmanager",
      title: "a firing alert",
      prove: byBearer,
      body: read("senders/alertmanager"),
      name: "Alert InstanceDown",
      sessionKey: "hook:alertmanager:1f2e3d4c5b6a7980",
      message: `InstanceDown: firing, began 2018-08-03T09:52:26.739266876+02:00
Instance db1:9100 down
db1:9100 of job node has been down for more than 5 minutes.
Labels: {"alertname":"InstanceDown","instance":"db1:9100","job":"node","severity":"page"}
http://prometheus.example.com:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1`,
    },
    {
      sender: "pagerduty",
      title: "a new incident",
      prove: byPagerduty,
      body: read("presets/pagerduty"),
      name: "PagerDuty API Service",
      sessionKey: "hook:pagerduty:PGR0VU2",
      message: `incident.triggered: A little bump in the road
Service: API Service
Urgency: high, priority: P1, status: triggered
Assigned to: User 123, since 2020-10-02T18:45:22.169Z
https://acme.pagerduty.com/incidents/PGR0VU2`,
    },
    {
      sender: "linear",
      title: "a new issue",
      prove: byLinear,
      body: read("presets/linear"),
      name: "Linear KOR-11",
      sessionKey: "hook:linear:236e0fe8-0000-4000-8000-b2df06e33810",
      message: `KOR-11: webhook test
By Ada Example in the team Korosuke, state Backlog, priority High
https://linear.app/korosuke613/issue/KOR-11/webhook-test
Text: The page stays empty.`,
    },
    {
      sender: "sendgrid",
      title: "the bounce among its events",
      prove: bySendgrid,
      body: read("presets/sendgrid"),
      name: "SendGrid bounce",
      sessionKey: "hook:sendgrid:grace@example.com",
      message: `bounce: grace@example.com
Reason: 500 unknown recipient 5.0.0 bounce
Category: order, subject: 
Message: 14c5d75ce94.dfd.64b469.filter0001.16648.5515E0B88.0`,
    },
  ];
  for (const { sender, title, body, prove, ...expected } of taken) {
    it(`${sender}: turns ${title} into a run with a name, a session and a message`, async () => {
      fixture.model.requests.length = 0;
      const { status, body: answer } = await post(sender, body, prove);

      expect(status, JSON.stringify(answer)).to.equal(202);
      const [run] = await Promise.all(answer.runIds.map((runId: string) => fixture.ended(runId)));
      expect(run).to.include({ status: "completed", name: expected.name, sessionKey: expected.sessionKey });
      const messages = fixture.model.requests.map((request) => fenced(request.body.messages.at(-1).content));
      expect(messages).to.include(expected.message);
    });
  }

  for (const { sender, title, body, prove } of taken) {
    it(`${sender}: refuses ${title} with the secret of another`, async () => {
      expect(await post(sender, body, prove, secretOf("somebody"))).to.include({ status: 401 });
    });
  }

  const changed = (file: string, change: Body): Body => ({ ...read(file), ...change });
  const noise: Sent[] = [
    ...(
      [
        ["ping", "a ping", { zen: "Keep it logically awesome.", hook_id: 1 }],
        ["push", "a push", read("senders/github-push")],
        ["issues", "a closed issue", changed("senders/github-issues", { action: "closed" })],
        ["issues", "a bot's issue", changed("senders/github-issues", { sender: { login: "a[bot]", type: "Bot" } })],
      ] as const
    ).map(([event, title, body]) => ({ sender: "github" as const, title, prove: byGithub(event), body })),
    {
      sender: "gitlab",
      title: "an edited merge request",
      prove: byGitlab,
      body: changed("presets/gitlab-merge-request", { object_attributes: { action: "update" } }),
    },
    { sender: "gitlab", title: "a push", prove: byGitlab, body: { object_kind: "push", event_name: "push" } },
    {
      sender: "stripe",
      title: "a payment that succeeded",
      prove: stripe,
      body: changed("senders/stripe-payment-intent", { type: "payment_intent.succeeded" }),
    },
    {
      sender: "sentry",
      title: "a notice of the installation",
      prove: bySentry("installation"),
      body: { action: "created", data: {} },
    },
    {
      sender: "grafana",
      title: "a resolved notification",
      prove: byBearer,
      body: changed("senders/grafana", { status: "resolved" }),
    },
    {
      sender: "alertmanager",
      title: "a resolved notification",
      prove: byBearer,
      body: changed("senders/alertmanager", { status: "resolved" }),
    },
    {
      sender: "pagerduty",
      title: "the test of a subscription",
      prove: byPagerduty,
      body: { event: { event_type: "pagey.ping", data: { message: "Hello", type: "ping" } } },
    },
    {
      sender: "sendgrid",
      title: "events of mails that arrived",
      prove: bySendgrid,
      body: (read("presets/sendgrid") as unknown as Body[]).slice(0, 1) as unknown as Body,
    },
    {
      sender: "linear",
      title: "an edited issue",
      prove: byLinear,
      body: changed("presets/linear", { action: "update" }),
    },
  ];
  for (const { sender, title, body, prove } of noise) {
    it(`${sender}: starts no run for ${title}`, async () => {
      const { status, body: answer } = await post(sender, body, prove);

      expect([status, answer.runIds]).to.deep.equal([202, []]);
    });
  }

  it("gitlab: gives no template the header with the token", async () => {
    const { body } = await post("gitlab/headers", read("presets/gitlab-note"), (secret) => ({
      "X-Gitlab-Token": secret,
      "X-Gitlab-Event": "Note Hook",
    }));
    await fixture.ended(body.runIds[0]);

    expect(fenced(fixture.promptWith("of Note Hook"))).to.equal("Token [] of Note Hook");
  });
});
