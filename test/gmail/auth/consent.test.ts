import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { GoogleError } from "../../../src/gmail/api/googleError.ts";
import { type Consent, requestConsent } from "../../../src/gmail/auth/consent.ts";
import { GMAIL_SCOPE, PUBSUB_SCOPE } from "../../../src/gmail/auth/googleAuth.ts";
import { StartError } from "../../../src/shared/process/lifecycle.ts";
import { type GoogleServer, startGoogleServer } from "../../support/gmail/googleServer.ts";
import { answers } from "../../support/servers/channelServer.ts";

const SCOPES = [GMAIL_SCOPE, PUBSUB_SCOPE];

describe("requestConsent", () => {
  let google: GoogleServer;
  beforeEach(async () => {
    google = await startGoogleServer();
  });
  afterEach(() => google.close());

  /** Requests consent and opens the address as a browser would. */
  async function ask(browse: (address: string) => unknown, options: object = {}): Promise<Consent> {
    return requestConsent({
      client: { client_id: "client", client_secret: "hidden-secret" },
      account: "ada@example.org",
      scopes: SCOPES,
      port: 0,
      timeoutMs: 60_000,
      consentUrl: google.consentUrl,
      tokenUrl: google.tokenUrl,
      show: browse,
      ...options,
    });
  }
  const redirect = async (address: string) =>
    (await fetch(address, { redirect: "manual" })).headers.get("location") ?? "";
  const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error) => error);

  it("requests offline access with PKCE and exchanges the code of the redirect", async () => {
    let address = "";
    let page: Promise<Response> | undefined;

    const consent = await ask((shown) => {
      address = shown;
      page = fetch(shown);
    });

    expect(consent).to.deep.equal({ refreshToken: "refresh-of-code-1", scopes: SCOPES });
    expect(await (await page)?.text()).to.match(/^You can close this window/);
    const { state, code_challenge, redirect_uri, ...asked } = Object.fromEntries(new URL(address).searchParams);
    expect(asked).to.deep.equal({
      response_type: "code",
      client_id: "client",
      access_type: "offline",
      prompt: "consent",
      login_hint: "ada@example.org",
      scope: SCOPES.join(" "),
      code_challenge_method: "S256",
    });
    expect(state).to.match(/^[\w-]{32}$/);
    expect(code_challenge).to.match(/^[\w-]{43}$/);
    expect(redirect_uri).to.match(/^http:\/\/127\.0\.0\.1:\d+\/consent$/);
  });

  it("accepts one redirect and stops listening afterwards", async () => {
    const seen: number[] = [];
    let origin = "";

    await ask(async (address) => {
      const back = await redirect(address);
      origin = new URL(back).origin;
      for (const path of ["/", "/favicon.ico", "/consent", "/consent/x?code=1"]) {
        seen.push((await fetch(origin + path)).status);
      }
      seen.push((await fetch(back, { method: "POST" })).status);
      seen.push((await fetch(back)).status);
    });

    expect(seen).to.deep.equal([404, 404, 404, 404, 404, 200]);
    expect(await failure(fetch(origin))).to.be.an("error");
  });

  it("ignores redirects from other programs and pages, and reports them once", async () => {
    const seen: [number, string][] = [];
    const refused: string[] = [];

    const consent = await ask(
      async (address) => {
        const back = await redirect(address);
        const forged = new URL(back);
        forged.searchParams.set("code", "forged");
        for (const [name, value] of [
          ["state", "forged"],
          ["state", ""],
          ["error", "access_denied"],
        ] as const) {
          forged.searchParams.delete("state");
          forged.searchParams.set(name, value);
          const answer = await fetch(forged);
          seen.push([answer.status, await answer.text()]);
        }
        await fetch(back);
      },
      { onRefused: (what: string) => refused.push(what) },
    );

    expect(consent.refreshToken).to.equal("refresh-of-code-1");
    for (const [status, text] of seen) expect(status, text).to.equal(400);
    expect(seen[0]?.[1]).not.to.include("forged");
    expect(refused).to.deep.equal(["foreign"]);
    expect(google.requestsTo(/POST \/token/)).to.have.length(1);
  });

  it("accepts a pasted address from a browser on another machine", async () => {
    const pasted = new PassThrough();
    const refused: string[] = [];
    const onRefused = (what: string) => refused.push(what);

    const paste = async (address: string) => {
      const back = await redirect(address);
      pasted.write(`\nwhat now?\n${back.replace(/state=[^&]+/, "state=forged")}\n ${back} \n`);
    };
    const consent = await ask(paste, { pasted, onRefused });

    expect(consent.refreshToken).to.equal("refresh-of-code-1");
    expect(refused).to.deep.equal(["unreadable", "foreign"]);
  });

  it("listens on the configured port", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;

    const error = await failure(ask(() => {}, { port }));
    taken.close();
    await once(taken, "close");
    let address = "";
    await ask(
      (shown) => {
        address = shown;
        void fetch(shown);
      },
      { port },
    );

    expect(error).to.be.instanceOf(StartError).with.property("message").that.includes("pass another one with --port");
    expect(new URL(address).searchParams.get("redirect_uri")).to.equal(`http://127.0.0.1:${port}/consent`);
  });

  it("fails after the time limit", async () => {
    const error = await failure(ask(() => {}, { timeoutMs: 1 }));

    expect(error)
      .to.be.instanceOf(StartError)
      .with.property("message")
      .that.matches(/^No consent was given within/);
  });

  const refusals: [what: string, consent: GoogleServer["consent"], words: RegExp][] = [
    [
      "a consent that is denied",
      { error: "access_denied" },
      /^The consent was not given \(access_denied\): run the command again/,
    ],
    ["an error that is no code", { error: "<b>secret words</b>" }, /^The consent was not given \(unknown reason\)/],
    [
      "a scope that was not ticked",
      { scope: GMAIL_SCOPE },
      /run the command again and tick https:\/\/\S+\/auth\/pubsub\.$/,
    ],
    ["no refresh token", { withoutRefreshToken: true }, /^Google returned no refresh token: remove this app at /],
  ];
  for (const [what, behaviour, words] of refusals) {
    it(`refuses ${what}`, async () => {
      Object.assign(google.consent, behaviour);

      const error = await failure(ask(fetch));

      expect(error).to.be.instanceOf(StartError).with.property("message").that.matches(words);
      const exchanges = behaviour.error ? 0 : 1;
      expect(google.requestsTo(/POST \/token/)).to.have.length(exchanges);
    });
  }

  it("reports the login's response to the code and nothing of the request", async () => {
    google.fail(/POST \/token/, answers(401, { error: "invalid_client", error_description: "hidden-secret" }));

    const error = await failure(ask(fetch));

    expect(error)
      .to.be.instanceOf(GoogleError)
      .that.deep.includes({ kind: "authorization", codes: ["invalid_client"] });
    expect(error.message).to.equal("Google's login answered 401 (invalid_client).");
  });
});
