import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { Webhook } from "standardwebhooks";

export const GITHUB = "the secret of the GitHub webhook";
export const STRIPE = "whsec_the_secret_of_the_stripe_endpoint";
export const SLACK = "the signing secret of the Slack app";
export const STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const SVIX = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const SENDGRID = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
export const SENDGRID_KEY = SENDGRID.publicKey.export({ format: "der", type: "spki" }).toString("base64");

/** Returns the headers with which a sender signs a body. */
export type Sign = (body: string, now: Date) => Record<string, string>;

export const seconds = (now: Date): number => Math.floor(now.getTime() / 1_000);

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");

/** The senders' signatures; test/slow/sdks/signers.test.ts compares them to the senders' own libraries. */
export const SIGNERS = {
  github: (body) => ({ "X-Hub-Signature-256": `sha256=${hmac(GITHUB, body)}` }),
  stripe: (body, now) => ({
    "Stripe-Signature": `t=${seconds(now)},v1=${hmac(STRIPE, `${seconds(now)}.${body}`)}`,
  }),
  slack: (body, now) => ({
    "X-Slack-Request-Timestamp": String(seconds(now)),
    "X-Slack-Signature": `v0=${hmac(SLACK, `v0:${seconds(now)}:${body}`)}`,
  }),
  sendgrid: (body, now) => ({
    "X-Twilio-Email-Event-Webhook-Signature": sign(
      "sha256",
      Buffer.from(seconds(now) + body),
      SENDGRID.privateKey,
    ).toString("base64"),
    "X-Twilio-Email-Event-Webhook-Timestamp": String(seconds(now)),
  }),
  standard: (body, now) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds(now)),
    "webhook-signature": new Webhook(STANDARD).sign("msg_1", now, body),
  }),
  svix: (body, now) => ({
    "svix-id": "msg_2",
    "svix-timestamp": String(seconds(now)),
    "svix-signature": new Webhook(SVIX).sign("msg_2", now, body),
  }),
} satisfies Readonly<Record<string, Sign>>;
