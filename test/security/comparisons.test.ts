import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import { indexOfDigest } from "../../src/api/auth/tokenTable.ts";
import { webhookSecret } from "../../src/channels/telegram/inbound.ts";
import { type SenderAuth, verifySender } from "../../src/hooks/signatures/verifySender.ts";
import { seal, unseal } from "../../src/models/jobs/tokens/seal.ts";
import { startApp } from "../support/app.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";
const HOOKS = "a-hook-token-of-length";
const BOT = "123456:secret";
const WEBHOOK = webhookSecret(BOT);

/** Invalid secrets that differ in position and length, neither of which may have a visible effect. */
const wrongOnes = (right: string) => [
  `X${right.slice(1)}`,
  `${right.slice(0, -1)}X`,
  "X".repeat(right.length),
  right.slice(0, 1),
  `${right}X`,
  "X".repeat(10 * right.length),
];

/** Returns the lengths of the constant-time comparisons during an act. */
async function comparisonsOf(act: () => unknown): Promise<string[]> {
  const compared: string[] = [];
  const { timingSafeEqual } = crypto;
  crypto.timingSafeEqual = (one, other) => {
    compared.push(`${one.byteLength}`);
    return timingSafeEqual(one, other);
  };
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    crypto.timingSafeEqual = timingSafeEqual;
    syncBuiltinESMExports();
  }
  return compared;
}

describe("the comparison of a secret", () => {
  it("of configured tokens covers every word of every digest, whatever differs", () => {
    const digests = Uint32Array.from({ length: 3 * 8 }, (_, i) => i + 1);
    const first = digests.slice(0, 8);
    const last = digests.slice(16);
    const beginsAsSecond = digests.slice(8, 16).with(7, 0);
    const cases: [Uint32Array, number][] = [
      [first, 0],
      [last, 2],
      [beginsAsSecond, -1],
      [new Uint32Array(8), -1],
    ];

    for (const [given, index] of cases) {
      const read: (string | symbol)[] = [];
      const watched = new Proxy(digests, {
        get(words, key) {
          if (key !== "length") read.push(key);
          return Reflect.get(words, key, words);
        },
      });

      expect(indexOfDigest(watched, given)).to.equal(index);
      expect(read).to.have.length(24);
    }
  });

  const requests: [string, string, (given: string) => [string, string, object, Record<string, string>], string[]][] = [
    ["hooks.token", HOOKS, (given) => ["POST", "/hooks/wake", { text: "a" }, { "X-Service-Token": given }], [HOOKS]],
    [
      "the webhook of Telegram",
      WEBHOOK,
      (given) => ["POST", "/hooks/telegram", { update_id: 1 }, { "X-Telegram-Bot-Api-Secret-Token": given }],
      [WEBHOOK],
    ],
  ];
  for (const [title, right, ask, secrets] of requests) {
    it(`of ${title} covers the whole secret, whatever differs`, async () => {
      const telegram = { botToken: BOT, inbound: "webhook", allowFrom: ["7"] };
      const config = JSON.stringify({
        server: { publicUrl: "https://jobs.example.com" },
        hooks: { enabled: true, token: HOOKS },
        channels: { telegram },
      });
      const app = await startApp({ apiToken: TOKEN, readOnlyToken: READ_ONLY, config });
      const statuses: number[] = [];
      const seen: string[][] = [];

      for (const given of wrongOnes(right)) {
        const [method, path, body, headers] = ask(given);
        const call = () => app.call(method, path, method === "GET" ? undefined : body, headers);
        seen.push(await comparisonsOf(async () => statuses.push((await call()).status)));
      }
      await app.close();

      expect(new Set(statuses)).to.deep.equal(new Set([401]));
      for (const compared of seen) expect(compared).to.deep.equal(secrets.map(({ length }) => `${length}`));
    });
  }

  const now = new Date(1_700_000_000_000);
  const at = "1700000000";
  const senders: [SenderAuth, (digest: string) => Record<string, string>][] = [
    [{ type: "github", secret: "s" }, (digest) => ({ "x-hub-signature-256": `sha256=${digest}` })],
    [{ type: "stripe", secret: "s" }, (digest) => ({ "stripe-signature": `t=${at},v1=${digest}` })],
    [
      { type: "slack", secret: "s" },
      (digest) => ({ "x-slack-request-timestamp": at, "x-slack-signature": `v0=${digest}` }),
    ],
    [
      { type: "standard-webhooks", secret: "whsec_c2VjcmV0" },
      (digest) => ({
        "webhook-id": "1",
        "webhook-timestamp": at,
        "webhook-signature": `v1,${Buffer.from(digest, "hex").toString("base64")}`,
      }),
    ],
    [{ type: "hmac", secret: "s", header: "x-signature" }, (digest) => ({ "x-signature": digest })],
  ];
  for (const [auth, headersOf] of senders) {
    it(`of a signature covers the whole of it, whatever differs: ${auth.type}`, async () => {
      const proofs: unknown[] = [];

      for (const digest of ["00".repeat(32), "ff".repeat(32), `00${"ff".repeat(31)}`, `${"ff".repeat(31)}00`]) {
        const request = { headers: headersOf(digest), tokens: [], rawBody: Buffer.from("{}"), now };
        const compared = await comparisonsOf(() => proofs.push(verifySender(auth, request)));
        expect(compared).to.deep.equal(["32"]);
      }

      expect(proofs).to.deep.equal(Array(4).fill({ ok: false, reason: "wrong" }));
    });
  }

  it("of a sender's own token covers the whole token", async () => {
    const token = "a-sender-token-of-length";
    for (const given of wrongOnes(token)) {
      const auth = { type: "token", token } as const;
      const request = { headers: {}, tokens: [given], rawBody: Buffer.alloc(0), now };

      expect(await comparisonsOf(() => verifySender(auth, request))).to.deep.equal([`${token.length}`]);
    }
  });

  it("of a job token covers the whole seal with each secret, whatever differs", async () => {
    const claims = ["a", "0".repeat(24), "read", 1];
    const token = seal("job", claims, "one secret");
    const [content = "", sealed = ""] = token.split(".");
    const forged = [`X${sealed.slice(1)}`, `${sealed.slice(0, -2)}XX`, "X".repeat(43)].map(
      (one) => `${content}.${one}`,
    );

    for (const given of [token, ...forged]) {
      const opened: unknown[] = [];
      const compared = await comparisonsOf(() => opened.push(unseal("job", given, ["another secret", "one secret"])));
      expect(compared).to.deep.equal(["32", "32"]);
      expect(opened).to.deep.equal([given === token ? claims : null]);
    }
  });

  it("of a browser's cookie compares seals, of the tokens that it names only", async () => {
    const tokens = ["one", "two"].map((name) => ({ name, token: `${TOKEN}-${name}`, scopes: ["jobs:read"] }));
    const app = await startApp({ apiToken: TOKEN, tokens });
    const { headers } = await app.call("POST", "/session", { token: TOKEN });
    const cookie = headers.get("Set-Cookie")?.split(";")[0] as string;
    const length = String(cookie.length - "signalbox_session=".length);
    const forged = [`${cookie.slice(0, -43)}${"A".repeat(43)}`, `${cookie.slice(0, -10)}${"A".repeat(10)}`];

    for (const Cookie of forged) {
      const compared = await comparisonsOf(() => app.call("GET", "/api/jobs", undefined, { Cookie }));
      expect(compared).to.deep.equal([length]);
    }
    await app.close();
  });
});
