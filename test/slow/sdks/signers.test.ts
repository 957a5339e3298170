import { Webhooks } from "@octokit/webhooks";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { verifySlackRequest } from "@slack/bolt/dist/receivers/verify-request.js";
import { expect } from "chai";
import Stripe from "stripe";
import { GITHUB, SENDGRID_KEY, SIGNERS, SLACK, STRIPE, seconds } from "../../support/hooks/signers.ts";

const BODY = '{ "id": "evt_1",  "event_id":"Ev1", "text": "Grüße 💶", "amount": 1.50 }\n';
const NOW = new Date("2026-11-25T20:00:00.900Z");

describe("the signatures with which the tests send webhooks", () => {
  it("are those of GitHub's library", async () => {
    const ours = SIGNERS.github(BODY)["X-Hub-Signature-256"];

    expect(ours).to.equal(await new Webhooks({ secret: GITHUB }).sign(BODY));
  });

  it("are those of Stripe's library", () => {
    const { webhooks } = new Stripe("sk_test_x");

    expect(SIGNERS.stripe(BODY, NOW)["Stripe-Signature"]).to.equal(
      webhooks.generateTestHeaderString({ payload: BODY, secret: STRIPE, timestamp: seconds(NOW) }),
    );
  });

  it("are accepted by Slack's library, which refuses another body", () => {
    const ours = SIGNERS.slack(BODY, NOW);
    const headers = {
      "x-slack-request-timestamp": Number(ours["X-Slack-Request-Timestamp"]),
      "x-slack-signature": ours["X-Slack-Signature"],
    };
    const verify = (body: string) =>
      verifySlackRequest({ signingSecret: SLACK, body, headers, nowMilliseconds: NOW.getTime() });

    expect(() => verify(BODY)).to.not.throw();
    expect(() => verify(`${BODY} `)).to.throw(/signature/i);
  });

  it("are accepted by SendGrid's library, which refuses another body", () => {
    const ours = SIGNERS.sendgrid(BODY, NOW);
    const library = new EventWebhook();
    const key = library.convertPublicKeyToECDSA(SENDGRID_KEY);
    const verify = (body: string) =>
      library.verifySignature(
        key,
        body,
        ours["X-Twilio-Email-Event-Webhook-Signature"],
        ours["X-Twilio-Email-Event-Webhook-Timestamp"],
      );

    expect([verify(BODY), verify(`${BODY} `)]).to.deep.equal([true, false]);
  });
});
