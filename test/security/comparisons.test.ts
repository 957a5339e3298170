import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import { type SenderAuth, verifySender } from "../../src/hooks/signatures/verifySender.ts";
import { startApp } from "../support/app.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";
const HOOKS = "a-hook-token-of-length";

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
  const both = [TOKEN, READ_ONLY];
  const requests: [string, string, (given: string) => [string, string, object, Record<string, string>], string[]][] = [
    ["server.apiToken", TOKEN, (given) => ["GET", "/api/jobs", {}, { Authorization: `Bearer ${given}` }], both],
    [
      "server.readOnlyToken",
      READ_ONLY,
      (given) => ["GET", "/api/jobs", {}, { Authorization: `Bearer ${given}` }],
      both,
    ],
    ["a browser's log-in", TOKEN, (given) => ["POST", "/session", { token: given }, {}], both],
    ["hooks.token", HOOKS, (given) => ["POST", "/hooks/wake", { text: "a" }, { "X-Service-Token": given }], [HOOKS]],
  ];
  for (const [title, right, ask, secrets] of requests) {
    it(`of ${title} covers the whole secret, whatever differs`, async () => {
      const config = `{ hooks: { enabled: true, token: "${HOOKS}" } }`;
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
        ...{ "webhook-id": "1", "webhook-timestamp": at },
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

  it("of a browser's cookie compares seals", async () => {
    const app = await startApp({ apiToken: TOKEN });
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
