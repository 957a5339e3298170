import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { createGmailApi, type GmailApi } from "../../../src/gmail/api/gmailApi.ts";
import { GoogleError } from "../../../src/gmail/api/googleError.ts";
import { createPubSub } from "../../../src/gmail/api/pubsub.ts";
import {
  createGoogleAuth,
  GMAIL_SCOPE,
  type GoogleAuth,
  type GoogleCredentials,
  PUBSUB_SCOPE,
} from "../../../src/gmail/auth/googleAuth.ts";
import { type GoogleServer, googleError, startGoogleServer } from "../../support/gmail/googleServer.ts";
import { answers, type Behaviour, breaks, breaksMidway, hangs } from "../../support/servers/channelServer.ts";

const USER: GoogleCredentials = {
  type: "authorized_user",
  client_id: "client",
  client_secret: "hidden-secret",
  refresh_token: "hidden-refresh",
};

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const never = new AbortController().signal;

describe("createGoogleAuth", () => {
  let google: GoogleServer;
  let auth: GoogleAuth;
  let gmail: GmailApi;

  beforeEach(async () => {
    google = await startGoogleServer();
    auth = createGoogleAuth({ credentials: USER, scopes: [], tokenUrl: google.tokenUrl, timeoutMs: 2_000 });
    gmail = createGmailApi(auth, { url: google.url, timeoutMs: 2_000 });
  });

  afterEach(() => google.close());

  it("requests one token with the refresh token and uses it for all requests", async () => {
    await Promise.all([gmail.getProfile(never), gmail.getProfile(never)]);

    const [first, ...others] = google.requestsTo(/token/);
    expect(first?.body).to.deep.equal({
      client_id: "client",
      client_secret: "hidden-secret",
      refresh_token: "hidden-refresh",
      grant_type: "refresh_token",
    });
    expect(others).to.deep.equal([]);
    expect(google.requestsTo(/profile/).map(({ headers }) => headers.authorization)).to.deep.equal([
      "Bearer token-1",
      "Bearer token-1",
    ]);
  });

  for (const subject of ["ada@example.org", undefined]) {
    it(`signs a service account's JWT for ${subject ?? "itself"} and sends it to the configured address`, async () => {
      const credentials: GoogleCredentials = {
        type: "service_account",
        client_email: "robot@p.iam.gserviceaccount.com",
        private_key: privateKey,
      };
      const robot = createGoogleAuth({
        credentials,
        subject,
        scopes: [GMAIL_SCOPE, PUBSUB_SCOPE],
        tokenUrl: google.tokenUrl,
      });

      await createGmailApi(robot, { url: google.url }).getProfile(never);
      google.endTokens();
      await createGmailApi(robot, { url: google.url }).getProfile(never);

      const [asked, again] = google.requestsTo(/token/);
      expect(again).to.be.an("object");
      expect(asked?.body.grant_type).to.equal("urn:ietf:params:oauth:grant-type:jwt-bearer");
      const { iat, exp, ...claims } = JSON.parse(
        Buffer.from(asked!.body.assertion.split(".")[1], "base64url").toString(),
      );
      expect(exp - iat).to.equal(3_600);
      expect(claims).to.deep.equal({
        iss: "robot@p.iam.gserviceaccount.com",
        scope: `${GMAIL_SCOPE} ${PUBSUB_SCOPE}`,
        aud: "https://oauth2.googleapis.com/token",
        ...(subject && { sub: subject }),
      });
    });
  }

  it("requests a new token after a 401 and repeats the request once", async () => {
    await gmail.getProfile(never);
    google.endTokens();

    await Promise.all([gmail.getProfile(never), gmail.getProfile(never)]);

    expect(google.requestsTo(/token/)).to.have.length(2);
    expect(google.requestsTo(/profile/)).to.have.length(5);
  });

  it("returns authorization if the new token is refused too", async () => {
    google.fail(
      /profile/,
      googleError(401, "UNAUTHENTICATED", "authError"),
      googleError(401, "UNAUTHENTICATED", "authError"),
    );

    expect(await failureOf(gmail.getProfile(never))).to.deep.include({ kind: "authorization", status: 401 });
    expect(google.requestsTo(/token/)).to.have.length(2);
  });

  const LOGIN_FAILURES: [string, Behaviour, object][] = [
    ...[
      "invalid_grant",
      "unauthorized_client",
      "invalid_client",
      "deleted_client",
      "access_denied",
      "invalid_scope",
    ].map((error): [string, Behaviour, object] => [
      `400 ${error}`,
      answers(400, { error, error_description: "hidden words" }),
      { kind: "authorization", reason: `Google's login answered 400 (${error}).`, status: 400 },
    ]),
    ["401 invalid_client", answers(401, { error: "invalid_client" }), { kind: "authorization", status: 401 }],
    [
      "429",
      answers(429, { error: "rate_limit_exceeded" }, { "Retry-After": "7" }),
      { kind: "rate-limited", retryAfterMs: 7_000 },
    ],
    ["403 rate_limit_exceeded", answers(403, { error: "rate_limit_exceeded" }), { kind: "rate-limited" }],
    ["500", answers(500, "hidden"), { kind: "transient", reason: "Google's login answered 500." }],
    ["503 with JSON", answers(503, { error: "temporarily_unavailable" }), { kind: "transient" }],
    ["400 server_error", answers(400, { error: "server_error" }), { kind: "transient" }],
    ["403 of a proxy", answers(403, "<html>hidden"), { kind: "refused", reason: "Google's login answered 403." }],
    ["a redirect", answers(302, "", { Location: "http://127.0.0.1:1/hidden" }), { kind: "refused" }],
    [
      "200 of a proxy",
      answers(200, "<html>hidden"),
      { kind: "transient", reason: "Google's login answered without a token." },
    ],
    ["200 without a token", answers(200, { expires_in: 3_600 }), { kind: "transient" }],
    ["a broken connection", breaks, { kind: "transient" }],
  ];
  for (const [what, behaviour, expected] of LOGIN_FAILURES) {
    it(`requests a token once and classifies the login's response: ${what}`, async () => {
      google.fail(/token/, behaviour);

      const error = await failureOf(gmail.getProfile(never));

      expect(error).to.deep.include(expected);
      expectNothingHidden(error);
      expect(google.requestsTo(/token/)).to.have.length(1);
      expect(google.requestsTo(/profile/)).to.deep.equal([]);
    });
  }

  it("returns transient for a login that is unreachable or does not respond", async () => {
    const nowhere = createGoogleAuth({ credentials: USER, scopes: [], tokenUrl: "http://127.0.0.1:1/token" });
    const hanging = createGoogleAuth({ credentials: USER, scopes: [], tokenUrl: google.tokenUrl, timeoutMs: 50 });
    google.fail(/token/, hangs);

    const reached = await failureOf(nowhere.call("Gmail", async () => {}, never));
    const answered = await failureOf(hanging.call("Gmail", async () => {}, never));

    expect(reached.kind).to.equal("transient");
    expect(reached.reason).to.match(/^Google's login cannot be reached \(/);
    expect(answered).to.deep.include({ kind: "transient", reason: "Google's login did not answer in time." });
  });

  const refused = (reason: string) => googleError(403, "PERMISSION_DENIED", reason);
  const detailed = (code: number, status: string, ...details: object[]) =>
    answers(code, { error: { code, status, message: "hidden words", details } });
  const FAILURES: [string, Behaviour, object][] = [
    ["403 insufficientPermissions", refused("insufficientPermissions"), { kind: "authorization" }],
    [
      "403 ACCESS_TOKEN_SCOPE_INSUFFICIENT",
      detailed(403, "PERMISSION_DENIED", { reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }),
      { kind: "authorization" },
    ],
    ["403 rateLimitExceeded", refused("rateLimitExceeded"), { kind: "rate-limited", retryAfterMs: undefined }],
    ["403 userRateLimitExceeded", refused("userRateLimitExceeded"), { kind: "rate-limited" }],
    ["429", answers(429, "hidden", { "Retry-After": "1.5" }), { kind: "rate-limited", retryAfterMs: 1_500 }],
    [
      "429 with RetryInfo",
      detailed(429, "RESOURCE_EXHAUSTED", { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3.5s" }),
      { kind: "rate-limited", retryAfterMs: 3_500 },
    ],
    [
      "429 until a date gone by",
      answers(429, {}, { "Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT" }),
      { retryAfterMs: 0 },
    ],
    ["403 accessNotConfigured", refused("accessNotConfigured"), { kind: "refused" }],
    ["400", googleError(400, "INVALID_ARGUMENT", "badRequest"), { kind: "refused", status: 400 }],
    ["a code that is words", answers(400, { error: { status: "hidden words" } }), { kind: "refused" }],
    ["a redirect", answers(307, "", { Location: "http://127.0.0.1:1/hidden" }), { kind: "refused", status: 307 }],
    ["408", answers(408, ""), { kind: "transient" }],
    ["409 ABORTED", googleError(409, "ABORTED", "aborted"), { kind: "transient" }],
    ["500", googleError(500, "INTERNAL", "backendError"), { kind: "transient" }],
    ["503 of a proxy", answers(503, "<html>hidden"), { kind: "transient", status: 503 }],
    ["200 of a proxy", answers(200, "<html>hidden"), { kind: "transient" }],
    ["200 cut off", breaksMidway, { kind: "transient" }],
    ["a broken connection", breaks, { kind: "transient" }],
  ];
  for (const [what, behaviour, expected] of FAILURES) {
    it(`classifies responses of Gmail and Pub/Sub alike, without a retry: ${what}`, async () => {
      const pubsub = createPubSub(auth, { url: google.url, timeoutMs: 2_000 });
      google.fail(/profile|acknowledge/, behaviour, behaviour);

      const errors = [
        await failureOf(gmail.getProfile(never)),
        await failureOf(pubsub.acknowledge("projects/p/subscriptions/s", ["ack-1"], never)),
      ];

      for (const error of errors) {
        expect(error).to.deep.include(expected);
        expectNothingHidden(error);
      }
      expect(google.requestsTo(/profile/)).to.have.length(1);
      expect(google.requestsTo(/acknowledge/)).to.have.length(1);
    });
  }

  it("returns transient for a service that does not respond in time or is unreachable", async () => {
    const hanging = createGmailApi(auth, { url: google.url, timeoutMs: 50 });
    const nowhere = createGmailApi(auth, { url: "http://127.0.0.1:1" });
    await gmail.getProfile(never);
    google.fail(/profile/, hangs);

    expect(await failureOf(hanging.getProfile(never))).to.deep.include({
      kind: "transient",
      reason: "Gmail did not answer in time.",
    });
    expect((await failureOf(nowhere.getProfile(never))).kind).to.equal("transient");
  });

  for (const place of [/token/, /profile/]) {
    it(`throws the signal's reason when it is stopped while waiting for ${place.source}`, async () => {
      const stop = new AbortController();
      const reason = new Error("stopped");
      google.fail(place, (_, request) => {
        stop.abort(reason);
        return request;
      });

      const ended = await gmail.getProfile(stop.signal).catch((error) => error);
      const before = await gmail.getProfile(stop.signal).catch((error) => error);

      expect(ended).to.equal(reason);
      expect(before).to.equal(reason);
    });
  }
});

async function failureOf(answer: Promise<unknown>): Promise<GoogleError> {
  const error = await answer.catch((thrown) => thrown);
  expect(error).to.be.an.instanceOf(GoogleError);
  return error as GoogleError;
}

function expectNothingHidden(error: GoogleError): void {
  const told = JSON.stringify([error, error.message, error.stack, String(error.cause)]);
  expect(told).not.to.match(/hidden|token-\d|secret words/);
}
