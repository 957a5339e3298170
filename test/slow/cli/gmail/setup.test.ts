import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect } from "chai";
import JSON5 from "json5";
import sinon from "sinon";
import { EXIT } from "../../../../src/cli/exit.ts";
import { runCli } from "../../../cli/service.ts";
import { type Running, runInProcess, startInProcess } from "../../../support/cli.ts";
import { eventually } from "../../../support/eventually.ts";
import { googleAddress, redirectedTo } from "../../../support/gmail/googleRedirect.ts";
import { type GoogleServer, googleError, startGoogleServer } from "../../../support/gmail/googleServer.ts";
import { canTestLinux } from "../../../support/machine.ts";
import { answers, type Behaviour, hangs } from "../../../support/servers/channelServer.ts";

const TOPIC = "projects/my-project/topics/signalbox-gmail";
const SUBSCRIPTION = "projects/my-project/subscriptions/signalbox-gmail";
const PUBLISHER = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const SCOPES = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/pubsub"];
const ADA = "--account ada@example.org";
const FIRST = `${ADA} --client client.json --no-browser`;
const CLIENT = {
  client_id: "1234-abc.apps.googleusercontent.com",
  client_secret: "hidden-client-secret",
  project_id: "my-project",
};

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const KEY = {
  type: "service_account",
  project_id: "my-project",
  private_key: privateKey,
  client_email: "robot@my-project.iam.gserviceaccount.com",
  client_id: "555",
};

describe("signalbox webhooks gmail setup", () => {
  let google: GoogleServer;
  let home: string;

  beforeEach(async () => {
    google = await startGoogleServer();
    redirectGoogle(google.url);
    home = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
    write("client.json", JSON.stringify({ installed: CLIENT }));
    write("key.json", JSON.stringify(KEY));
    write("signalbox.json5", configText());
  });
  afterEach(async () => {
    sinon.restore();
    await google.close();
    rmSync(home, { recursive: true });
  });

  const at = (name: string) => join(home, name);
  const write = (name: string, text: string) => writeFileSync(at(name), text);
  const read = (name: string) => readFileSync(at(name), "utf8");
  const gmailOf = (name = "signalbox.json5") => JSON5.parse(read(name)).hooks.gmail;

  /** A file written by hand. */
  const configText = (more = "") => `// mine
{
  hooks: {
    enabled: true, // for the others too
    'token': "\${HOOKS_TOKEN}",
    gmail: {
      pollEveryMinutes: 7,${more}
    },
  },
  /* the end */
}
`;
  const ENV = { HOOKS_TOKEN: "the-token-of-the-hooks" };
  const commandOf = (args: string) => `webhooks gmail setup ${args}`.trim();
  const start = (args: string, env: Record<string, string> = {}): Running =>
    startInProcess(commandOf(args).split(" "), { ...ENV, ...env }, { cwd: home });

  /** Runs it, and consents as soon as it asks. */
  async function setUp(args: string, env: Record<string, string> = {}) {
    const run = start(args, env);
    let isOver = false;
    void run.ended.then(() => {
      isOver = true;
    });
    const address = await eventually(() => isOver || addressIn(run), "the address of Google's page");
    if (typeof address === "string") await fetch(googleAddress(address, google.url));
    const ended = await run.ended;
    expect(ended.stdout + ended.stderr).not.to.match(/hidden-|refresh-of|token-\d|code-\d|PRIVATE|secret words/);
    return { ...ended, asked: address !== true };
  }
  const addressIn = (run: Running) => /^ {2}(https:\S+)$/m.exec(run.printed())?.[1];
  const changes = () => google.requestsTo(/^(PUT|PATCH|POST \S*(setIamPolicy|stop))/).length;

  it("sets up a mailbox completely and keeps the rest of the file unchanged", async () => {
    const { code, stdout, stderr } = await setUp(FIRST);

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(stdout.split("\n").filter((line) => /^(ok|would|FAILED)/.test(line))).to.deep.equal([
      `ok     consent        given, and saved in ${at("gmail-credentials.json")}, which only you can read`,
      "ok     account        ada@example.org",
      `ok     topic          ${TOPIC} (created)`,
      `ok     publisher      ${PUBLISHER} (created)`,
      `ok     subscription   ${SUBSCRIPTION} (created)`,
      `ok     watch          INBOX (until ${new Date(google.watch?.expiration ?? 0).toISOString()}; the listener renews it)`,
      `ok     configuration  ${at("signalbox.json5")} (hooks.gmail written)`,
    ]);
    expect(google.pubsub.policies.get(TOPIC)?.bindings).to.deep.equal([
      { role: "roles/pubsub.publisher", members: [PUBLISHER] },
    ]);
    expect(google.pubsub.subscriptions.get(SUBSCRIPTION)).to.deep.include({ topic: TOPIC, expirationPolicy: {} });
    expect(google.watch).to.deep.include({ topicName: TOPIC, labelIds: ["INBOX"] });
    const more = `\n      account: "ada@example.org",\n      topic: "${TOPIC}",\n      subscription: "${SUBSCRIPTION}",`;
    const preset = `    presets: ["gmail"],\n  },\n  /* the end */`;
    expect(read("signalbox.json5")).to.equal(configText(more).replace("  },\n  /* the end */", preset));
    expect(JSON.parse(read("gmail-credentials.json"))).to.deep.equal({
      type: "authorized_user",
      client_id: CLIENT.client_id,
      client_secret: CLIENT.client_secret,
      refresh_token: "refresh-of-code-1",
      scopes: SCOPES,
      project_id: "my-project",
    });
    expect(statSync(at("gmail-credentials.json")).mode & 0o777).to.equal(0o600);
  });

  it("changes nothing and needs no options when it runs again", async () => {
    await setUp(FIRST);
    const files = ["signalbox.json5", "gmail-credentials.json"];
    const before = files.map((name) => statSync(at(name)));
    const changed = changes();

    const { code, stdout, asked } = await setUp("");

    expect({ code, asked }).to.deep.equal({ code: 0, asked: false });
    expect(stdout.match(/\(unchanged\)/g)).to.have.length(5);
    expect(changes()).to.equal(changed);
    const same = ({ ino, mtimeMs }: { ino: number; mtimeMs: number }) => ({ ino, mtimeMs });
    expect(files.map((name) => same(statSync(at(name))))).to.deep.equal(before.map(same));
  });

  const steps: [step: string, request: RegExp, asksAgain: boolean][] = [
    ["the exchange of the code", /POST \/token/, true],
    ["the look at the account", /GET .*profile/, true],
    ["the topic", /PUT .*topics/, false],
    ["the publisher", /POST .*setIamPolicy/, false],
    ["the subscription", /PUT .*subscriptions/, false],
    ["the watch", /POST .*watch/, false],
  ];
  for (const [step, request, asksAgain] of steps) {
    it(`can be completed by another run after it was killed at ${step}`, async () => {
      google.fail(request, hangs);
      const run = runCli(commandOf(FIRST), { ...ENV, ...redirectedTo(google) }, home);
      void fetch((await eventually(() => addressIn(run), "the address")) as string).catch(() => {});
      await eventually(() => google.requestsTo(request).length > 0, "the step");
      run.kill("SIGKILL");
      await run.ended;
      const before = read("signalbox.json5");

      const { code, asked } = await setUp(asksAgain ? FIRST : ADA);

      expect(before).to.equal(configText());
      expect({ code, asked }).to.deep.equal({ code: 0, asked: asksAgain });
      expect(gmailOf()).to.include({ account: "ada@example.org", topic: TOPIC, subscription: SUBSCRIPTION });
      expect(google.pubsub.policies.get(TOPIC)?.bindings).to.have.length(1);
      expect(google.watch).not.to.equal(null);
      expect(readdirSync(home).sort()).to.deep.equal([
        ...["client.json", "gmail-credentials.json", "key.json", "signalbox.json5"],
      ]);
    });
  }

  const denied = googleError(403, "PERMISSION_DENIED", "forbidden");
  const disabled = answers(403, {
    error: {
      code: 403,
      status: "PERMISSION_DENIED",
      message: "secret words",
      details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "SERVICE_DISABLED" }],
    },
  });
  const failures: [what: string, request: RegExp, behaviour: Behaviour, step: string, words: RegExp][] = [
    [
      "the Gmail API is not enabled",
      ...([/profile/, disabled, "account"] as const),
      /Enable the Gmail API in the project my-project at https:\/\/console\.cloud\.google\.com\/apis\/library\/gmail\.googleapis\.com\?project=my-project, wait/,
    ],
    [
      "the Pub/Sub API is not enabled",
      ...([/GET .*topics/, disabled, "topic"] as const),
      /Enable the Cloud Pub\/Sub API in the project my-project at \S+pubsub\.googleapis\.com\?project=my-project, wait/,
    ],
    [
      "the consent was given without a right",
      ...([/GET .*topics/, googleError(403, "PERMISSION_DENIED", "insufficientPermissions"), "topic"] as const),
      /Run the command with --again to give a new consent, and select every permission/,
    ],
    [
      "nobody may make topics",
      ...([/PUT .*topics/, denied, "topic"] as const),
      /In the project my-project, ada@example\.org needs the role Pub\/Sub Editor \(roles\/pubsub\.editor\)/,
    ],
    [
      "there is no such project",
      ...([/PUT .*topics/, googleError(404, "NOT_FOUND", "notFound"), "topic"] as const),
      /The project does not exist, or ada@example\.org has no access to it: .* --project/,
    ],
    [
      "nobody may change the policy",
      ...([/setIamPolicy/, denied, "publisher"] as const),
      /needs the role Pub\/Sub Admin \(roles\/pubsub\.admin\)/,
    ],
    [
      "the organization shares with its own domain alone",
      ...([/setIamPolicy/, googleError(400, "FAILED_PRECONDITION", "failedPrecondition"), "publisher"] as const),
      /domain restricted sharing, .* administrator for an exception for the project my-project, or pass --poll-only/,
    ],
    [
      "nobody may make subscriptions",
      ...([/PUT .*subscriptions/, denied, "subscription"] as const),
      /needs the role Pub\/Sub Editor/,
    ],
    [
      "the topic is not one of the client's project",
      ...([/watch/, googleError(400, "INVALID_ARGUMENT", "invalidArgument"), "watch"] as const),
      /publishes only to a topic in the project of the OAuth client .*--label/,
    ],
    [
      "a quota is used up",
      ...([/PUT .*topics/, googleError(429, "RESOURCE_EXHAUSTED", "rateLimitExceeded"), "topic"] as const),
      /run the command again later/,
    ],
    [
      "Google has troubles of its own",
      ...([/PUT .*subscriptions/, googleError(503, "UNAVAILABLE", "backendError"), "subscription"] as const),
      /error is temporary: run the command again later/,
    ],
    [
      "the client's secret is wrong",
      ...([/token/, answers(401, { error: "invalid_client", error_description: "secret words" }), "consent"] as const),
      /\(invalid_client\)\. Google rejected this OAuth client: download its JSON file again/,
    ],
  ];
  for (const [what, request, behaviour, step, words] of failures) {
    it(`explains what to do when ${what}, and can be completed by another run`, async () => {
      google.fail(request, behaviour);

      const failed = await setUp(FIRST);
      const config = read("signalbox.json5");
      const again = await setUp(existsSync(at("gmail-credentials.json")) ? ADA : FIRST);

      expect(failed.code).to.equal(1);
      expect(failed.stderr)
        .to.match(new RegExp(`^FAILED {1}${step} +[^\\n]+\\n$`))
        .and.match(words);
      expect(config).to.equal(configText());
      expect(again).to.include({ code: 0, asked: step === "consent" });
    });
  }

  it("reports that the login cannot be reached, and saves nothing", async () => {
    const gone = await startGoogleServer();
    await gone.close();
    sinon.restore();
    redirectGoogle(gone.url);

    const { code, stderr } = await setUp(FIRST);

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^FAILED consent +Google's login cannot be reached \(\w+\)\. The error is temporary: run the command again/,
    );
    expect(existsSync(at("gmail-credentials.json"))).to.equal(false);
  });

  const refusals: [what: string, consent: GoogleServer["consent"], words: RegExp][] = [
    ["is denied", { error: "access_denied" }, /^FAILED consent +The consent was not given \(access_denied\)/],
    ["lacks a scope", { scope: String(SCOPES[0]) }, /^FAILED consent +.* tick https:\S+pubsub/],
    ["brings no refresh token", { withoutRefreshToken: true }, /^FAILED consent +Google returned no refresh token/],
  ];
  for (const [what, behaviour, words] of refusals) {
    it(`saves nothing of a consent that ${what}`, async () => {
      Object.assign(google.consent, behaviour);

      const { code, stderr } = await setUp(FIRST);

      expect(code).to.equal(1);
      expect(stderr).to.match(words);
      expect(existsSync(at("gmail-credentials.json"))).to.equal(false);
      expect(read("signalbox.json5")).to.equal(configText());
      expect(google.requestsTo(/\/v1\//)).to.deep.equal([]);
    });
  }

  it("reports an answer with a foreign state and continues to wait", async () => {
    const run = start(FIRST);
    const address = await eventually(() => addressIn(run), "the address");
    const forged = `${new URL(address).searchParams.get("redirect_uri")}?error=access_denied&state=forged`;
    const { status } = await fetch(forged);
    await fetch(address);

    const { code, stdout } = await run.ended;
    expect({ status, code }).to.deep.equal({ status: 400, code: 0 });
    expect(stdout).to.include("A response to another request (with another state) was ignored");
  });

  it("saves nothing of another account's consent, and compares addresses without regard to case", async () => {
    const other = await setUp(FIRST.replace("ada", "bob"));
    const kept = existsSync(at("gmail-credentials.json"));
    const right = await setUp(FIRST.replace("ada", "Ada"));

    expect(other.code).to.equal(1);
    expect(other.stderr).to.match(/^FAILED account +The consent is for another mailbox than bob@example\.org/);
    expect(other.stdout + other.stderr).not.to.include("ada@");
    expect(kept).to.equal(false);
    expect(right.code).to.equal(0);
  });

  it("asks again if the consent has ended, and for another account, another client, more rights or --again", async () => {
    await setUp(`${FIRST} --poll-only`);
    write("other.json", JSON.stringify({ installed: { ...CLIENT, client_id: "other.apps.googleusercontent.com" } }));
    const refresh = () => JSON.parse(read("gmail-credentials.json")).refresh_token;

    const forMore = await setUp("--no-browser --topic signalbox-gmail");
    google.fail(/token/, answers(400, { error: "invalid_grant" }));
    const ended = await setUp("--no-browser");
    const anew = await setUp("--no-browser --again");
    const afterThese = refresh();
    const client = await setUp("--no-browser --client other.json");
    const bob = await setUp("--no-browser --account bob@example.org");

    for (const run of [forMore, ended, anew, client]) expect(run).to.include({ code: 0, asked: true });
    expect(ended.stdout).to.include("A new consent is needed: the saved one has expired");
    expect(afterThese).to.equal("refresh-of-code-4");
    expect(bob).to.include({ code: 1, asked: true });
    expect(refresh()).to.equal("refresh-of-code-5");
  });

  it("changes nothing on a dry run from nothing", async () => {
    const before = readdirSync(home);

    const { code, stdout, asked } = await setUp(`${FIRST} --dry-run --label STARRED`);

    expect({ code, asked }).to.deep.equal({ code: 0, asked: false });
    expect(stdout.match(/^would +(\w+)/gm)?.map((line) => line.split(/ +/)[1])).to.deep.equal([
      ...["consent", "topic", "publisher", "subscription", "watch", "configuration"],
    ]);
    expect(JSON5.parse(stdout.slice(stdout.indexOf("\n{"))).hooks.gmail).to.deep.equal({
      account: "ada@example.org",
      label: "STARRED",
      topic: TOPIC,
      subscription: SUBSCRIPTION,
    });
    expect(readdirSync(home)).to.deep.equal(before);
    expect(read("signalbox.json5")).to.equal(configText());
    expect(google.requests).to.deep.equal([]);
  });

  it("changes nothing on a dry run of a finished set-up, and prints what a change would do", async () => {
    await setUp(FIRST);
    const before = [read("signalbox.json5"), read("gmail-credentials.json"), changes(), google.watch?.expiration];

    const same = await setUp("--dry-run");
    const moved = await setUp("--dry-run --topic other --no-include-body");

    expect(same.stdout.match(/^\w+ +\w+/gm)).to.deep.equal([
      ...["ok     credentials", "ok     account", "ok     topic", "ok     publisher", "ok     subscription"],
      ...["would  watch", "ok     configuration"],
    ]);
    expect(moved.code).to.equal(1);
    expect(moved.stdout).to.include("topics/other (would be created)");
    expect(moved.stderr).to.match(/^FAILED subscription +The subscription belongs to another topic\. Pass another one/);
    const after = [read("signalbox.json5"), read("gmail-credentials.json"), changes(), google.watch?.expiration];
    expect(after).to.deep.equal(before);
  });

  it("prints on a dry run that it would ask for consent and save a new key", async () => {
    await setUp(FIRST);
    const before = read("gmail-credentials.json");
    const same = await setUp("--again --dry-run");
    const key = await setUp("--credentials key.json --dry-run");
    google.deadAuthorization = "invalid_grant";
    const ended = await setUp("--dry-run");

    expect([same.code, key.code, ended.code]).to.deep.equal([0, 0, 0]);
    expect(same.stdout).to.match(
      /^would +consent +of ada@example\.org, in a browser: .* --again or another client was given$/m,
    );
    expect(key.stdout).to.match(/^would +credentials .*\(new\)\n(ok .*\n){4}would +watch/m);
    expect(ended.stdout).to.match(
      /^would +consent .*: the saved one has expired .*\n(would .*\n){4}ok +configuration/m,
    );
    expect(read("gmail-credentials.json")).to.equal(before);
  });

  it("keeps changes made to the file while it waited for the consent", async () => {
    const run = start(FIRST);
    const address = await eventually(() => addressIn(run), "the address");
    write("signalbox.json5", configText().replace("// mine", "// ours"));
    await fetch(address);

    expect((await run.ended).code).to.equal(0);
    expect(read("signalbox.json5")).to.match(/^\/\/ ours\n/);
    expect(gmailOf().topic).to.equal(TOPIC);
  });

  it("reports an unusable file before it asks for consent", async () => {
    write("signalbox.json5", configText().replace("enabled: true", "enabeld: true, presets: {}"));

    const { code, stderr, asked } = await setUp(FIRST);

    expect({ code, asked }).to.deep.equal({ code: 1, asked: false });
    expect(stderr).to.include("hooks.enabeld is not a known key; did you mean hooks.enabled?");
    expect(stderr).to.include("hooks.presets must be a list");
  });

  it("rejects a push subscription, repairs one that would expire, and accepts another by its name", async () => {
    google.pubsub.topics.add(TOPIC);
    const pushConfig = { pushEndpoint: "https://example.org/" };
    google.pubsub.subscriptions.set(SUBSCRIPTION, { topic: TOPIC, pushConfig, expirationPolicy: {} });
    const other = SUBSCRIPTION.replace("signalbox-gmail", "mine");
    google.pubsub.subscriptions.set(other, { topic: TOPIC, expirationPolicy: { ttl: "2678400s" } });

    const refused = await setUp(FIRST);
    const taken = await setUp(`${ADA} --subscription mine`);
    await setUp("");

    expect(refused.stderr).to.match(
      /^FAILED subscription +The subscription is a push subscription, .* Pass another one with --sub/,
    );
    expect(taken.code).to.equal(0);
    expect(taken.stdout).to.include(`${other} (corrected)`);
    expect(gmailOf().subscription).to.equal(other);
  });

  it("needs no right to the topic's policy if the grant exists, and explains who must grant it otherwise", async () => {
    google.fail(/getIamPolicy/, denied, denied);
    google.fail(/watch/, denied);

    const before = await setUp(FIRST);
    const after = await setUp(ADA);

    expect(before.code).to.equal(1);
    expect(before.stderr).to.match(
      /^FAILED watch +.* an owner of the project my-project to grant roles\/pubsub\.publisher on the topic to serviceAccount:gmail-api-push@/,
    );
    expect(after.code).to.equal(0);
    expect(after.stdout).to.match(/^ok +publisher .*\(cannot be checked; the watch will show it\)$/m);
    expect(gmailOf().topic).to.equal(TOPIC);
    expect(google.requestsTo(/setIamPolicy/)).to.deep.equal([]);
  });

  it("waits until a new grant takes effect in Gmail", async () => {
    google.fail(/watch/, denied);

    const { code, stdout } = await setUp(FIRST);

    expect(code).to.equal(0);
    expect(stdout)
      .to.include("The grant has no effect yet")
      .and.match(/^ok +watch/m);
  });

  it("sets up polling only, and stops an existing watch", async () => {
    await setUp(FIRST);
    google.requests.length = 0;

    const { code, stdout } = await setUp("--poll-only");
    const again = await setUp("");

    expect({ code, again: again.code }).to.deep.equal({ code: 0, again: 0 });
    expect(stdout).to.match(/^ok +watch +none; .* every 7 minutes; the watch is stopped$/m);
    expect(google.watch).to.equal(null);
    expect(gmailOf()).to.have.property("account");
    expect(gmailOf()).not.to.have.any.keys("topic", "subscription");
    expect(again.stdout).to.match(/^ok +configuration .*\(unchanged\)$/m);
    expect(google.requestsTo(/v1\/projects/)).to.deep.equal([]);
  });

  it("rejects an unknown label, even without a watch", async () => {
    google.fail(/messages\?/, googleError(400, "INVALID_ARGUMENT", "invalidArgument"));

    const { code, stderr } = await setUp(`${FIRST} --poll-only --label Invoices`);

    expect(code).to.equal(1);
    expect(stderr).to.match(/^FAILED label +Gmail answered 400 .* --label must be the id of a label, such as INBOX/);
    expect(google.requestsTo(/messages\?/)[0]?.path).to.include("labelIds=Invoices");
    expect(read("signalbox.json5")).to.equal(configText());
  });

  it("asks for no right to Pub/Sub if the mailbox is only polled", async () => {
    const run = start(`${FIRST} --poll-only`);
    const address = await eventually(() => addressIn(run), "the address");
    await fetch(address);

    expect((await run.ended).code).to.equal(0);
    expect(new URL(address).searchParams.get("scope")).to.equal(SCOPES[0]);
  });

  it("accepts a service account's key and reads the mailbox on behalf of its owner", async () => {
    const { code, stdout, asked } = await setUp(`${ADA} --credentials key.json`);
    const again = await setUp("");

    expect({ code, asked }).to.deep.equal({ code: 0, asked: false });
    expect(stdout).to.match(/^ok +credentials .*gmail-credentials\.json \(new\)$/m);
    expect(JSON.parse(read("gmail-credentials.json"))).to.deep.equal(KEY);
    expect(statSync(at("gmail-credentials.json")).mode & 0o777).to.equal(0o600);
    const claims = google.requestsTo(/token/).map(({ body }) => JSON.parse(atob(body.assertion.split(".")[1])));
    expect(claims.slice(0, 2).map(({ sub, scope }) => [sub, scope])).to.deep.equal([
      ["ada@example.org", SCOPES[0]],
      [undefined, SCOPES[1]],
    ]);
    expect(again.stdout.match(/\(unchanged\)/g)).to.have.length(5);
  });

  it("removes the right of others to read the credentials", async () => {
    await setUp(FIRST);
    chmodSync(at("gmail-credentials.json"), 0o644);

    const dry = await setUp("--dry-run");
    const modeThen = statSync(at("gmail-credentials.json")).mode & 0o777;
    const { stdout } = await setUp("");

    expect(dry.stdout).to.match(/^would +credentials .*\(other users could read it; now only you can\)$/m);
    expect(modeThen).to.equal(0o644);
    expect(stdout).to.match(/^ok +credentials .*\(other users could read it; now only you can\)$/m);
    expect(statSync(at("gmail-credentials.json")).mode & 0o777).to.equal(0o600);
  });

  it("explains what an administrator must permit if a service account has no delegation, and saves no such key", async () => {
    google.deadAuthorization = "unauthorized_client";

    const { code, stderr } = await setUp(`${ADA} --credentials key.json`);

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^FAILED account +.* domain-wide delegation, allow the client 555 the scope \S+gmail\.readonly/,
    );
    expect(existsSync(at("gmail-credentials.json"))).to.equal(false);
  });

  if (canTestLinux())
    it("opens the browser", async () => {
      mkdirSync(at("bin"));
      write("bin/xdg-open", `#!${process.execPath}\nfetch(process.argv[2]).then(() => {});\n`);
      chmodSync(at("bin/xdg-open"), 0o755);

      const { code } = await start(FIRST.replace(" --no-browser", ""), {
        PATH: `${at("bin")}${delimiter}${process.env.PATH}`,
        ...redirectedTo(google),
      }).ended;

      expect(code).to.equal(0);
      expect(google.requestsTo(/GET \/consent/)).to.have.length(1);
    });

  it("accepts a pasted address if the browser runs on another machine", async () => {
    const child = spawn(
      process.execPath,
      [resolve("src/cli/main.ts"), "webhooks", "gmail", "setup", ...FIRST.split(" ")],
      {
        cwd: home,
        env: { PATH: process.env.PATH, ...ENV, ...redirectedTo(google) },
      },
    );
    const ended = once(child, "exit");
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const address = await eventually(() => /^ {2}(https:\S+)$/m.exec(printed)?.[1], "the address");
    const page = await fetch(address, { redirect: "manual" });

    child.stdin.write(`http://127.0.0.1/\n${page.headers.get("location")}\n`); // and stays open, as a terminal does

    expect(await ended).to.deep.equal([0, null]);
    expect(printed)
      .to.include("paste the whole address")
      .and.match(/^ok +configuration/m);
  });

  it("keeps saved settings, including references, and changes only those given as options", async () => {
    const more = `\n      account: "\${MAILBOX}", label: 'STARRED', /* why */ maxBytes: 300,`;
    write("signalbox.json5", configText(more));
    const env = { MAILBOX: "ada@example.org" };

    const first = await setUp("--client client.json --no-browser --topic signalbox-gmail", env);
    const text = read("signalbox.json5");
    const second = await setUp("--label INBOX --no-include-body --project my-project", env);

    expect([first.code, second.code]).to.deep.equal([0, 0]);
    const added = `\n      topic: "${TOPIC}",\n      subscription: "${SUBSCRIPTION}",`;
    expect(text).to.include(more + added);
    const changed = more.replace("'STARRED'", '"INBOX"');
    expect(read("signalbox.json5")).to.include(`${changed}${added}\n      includeBody: false,`);
    expect(google.watch?.labelIds).to.deep.equal(["INBOX"]);
  });

  it("writes the target of a link with its mode and owner, and adds no preset if a mapping matches the mails", async () => {
    const mapping = `mappings: [{ match: { path: "gmail" }, messageTemplate: "{{subject}}" }],\n    gmail`;
    write("target.json5", configText().replace("gmail", mapping));
    chmodSync(at("target.json5"), 0o640);
    if (process.getuid?.() === 0) chownSync(at("target.json5"), 4_321, 4_321); // nobody else may give a file away
    const { uid, gid } = statSync(at("target.json5"));
    rmSync(at("signalbox.json5"));
    symlinkSync("target.json5", at("signalbox.json5"));

    const { code } = await setUp(FIRST);

    expect(code).to.equal(0);
    expect(readdirSync(home, { withFileTypes: true }).find((one) => one.isSymbolicLink())?.name).to.equal(
      "signalbox.json5",
    );
    expect(statSync(at("target.json5"))).to.include({ uid, gid });
    expect(statSync(at("target.json5")).mode & 0o777).to.equal(0o640);
    expect(gmailOf("target.json5").topic).to.equal(TOPIC);
    expect(JSON5.parse(read("target.json5")).hooks).not.to.have.property("presets");
  });

  it("prints the text to paste if the file cannot be written", async () => {
    const name = `${"x".repeat(240)}.json5`; // no room for another name beside it
    renameSync(at("signalbox.json5"), at(name));

    const { code, stderr } = await setUp(FIRST, { SIGNALBOX_CONFIG: name });

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^FAILED configuration +.*cannot be written \(ENAMETOOLONG\): add the following to it, and "gmail"/,
    );
    expect(JSON5.parse(stderr.slice(stderr.indexOf("\n{"))).hooks.gmail).to.deep.equal({
      account: "ada@example.org",
      topic: TOPIC,
      subscription: SUBSCRIPTION,
    });
    expect(read(name)).to.equal(configText());
  });

  for (const token of [undefined, "the-token-of-an-earlier-start"]) {
    it(`creates a missing file ${token ? "with the hook token of an earlier start" : "with new secrets"}`, async () => {
      rmSync(at("signalbox.json5"));
      if (token) {
        mkdirSync(at(".signalbox"));
        write(".signalbox/hooks-token", `${token}\n`);
      }

      const run = start(FIRST);
      const page = await eventually(() => /^ {2}(https:\S+)$/m.exec(run.printed())?.[1], "the address");
      await fetch(page);
      const { code, stdout } = await run.ended;
      const check = await runInProcess(["config", "check"], {}, { cwd: home });

      expect([code, check.code]).to.deep.equal([0, 0]);
      expect(stdout).to.include(`${at("signalbox.json5")} (created, with hooks enabled)`);
      const { hooks, server } = JSON5.parse(read("signalbox.json5"));
      expect(hooks).to.deep.include({
        enabled: true,
        presets: ["gmail"],
        gmail: { account: "ada@example.org", topic: TOPIC, subscription: SUBSCRIPTION },
      });
      if (token) expect([hooks.token, server.apiToken]).to.deep.equal([token, undefined]);
      else expect(`${hooks.token} ${server.apiToken}`).to.match(/^[\w-]{32} [\w-]{32}$/);
      expect(stdout).not.to.include(hooks.token);
      expect(statSync(at("signalbox.json5")).mode & 0o777).to.equal(0o600);
    });
  }

  const wrong: [args: string, words: RegExp][] = [
    ["", /^--account is required: pass the address of the mailbox\.$/m],
    [ADA, /^No consent is saved: pass the JSON file of an OAuth client with --client, or .*--credentials/],
    [`${ADA} --client key.json`, /key\.json is not the JSON file of an OAuth client: it needs "installed"/],
    [`${ADA} --client signalbox.json5`, /^The file of the OAuth client signalbox\.json5 is not valid JSON\.$/m],
    [`${ADA} --client nowhere.json`, /^The file of the OAuth client nowhere\.json cannot be read \(ENOENT\)\.$/m],
    [`${ADA} --credentials client.json`, /^The credentials file client\.json has no "type"/],
    [
      `${FIRST} --credentials key.json`,
      /^Pass --client for a consent or --credentials for a service account, not both/,
    ],
    [`${FIRST} --poll-only --topic t`, /^--poll-only cannot be used with --project, --topic or --subscription/],
    [`${FIRST} --project elsewhere`, /^The topic is in the project elsewhere, but .* my-project, .*: omit --project/],
    [`${FIRST} --topic a/b`, /hooks\.gmail\.topic must look like projects\/my-project\/topics\/signalbox-gmail$/m],
    [`--account ada --client client.json`, /hooks\.gmail\.account must look like ada@example\.org$/m],
    [`${FIRST} --port http`, /--port .*It must be a whole number from 0 to 65535/],
  ];
  for (const [args, words] of wrong) {
    it(`rejects ${args || "a missing account"} before it asks for consent`, async () => {
      const { code, stderr, asked } = await setUp(args);

      const expected = args === "" || args.endsWith("--port http") ? EXIT.usage : EXIT.failed;
      expect({ code, asked }).to.deep.equal({ code: expected, asked: false });
      expect(stderr).to.match(words);
      expect(google.requests).to.deep.equal([]);
    });
  }
});

/** Sends this process's requests for Google to another address, until sinon is restored. */
function redirectGoogle(url: string): void {
  const { fetch } = globalThis;
  sinon.stub(globalThis, "fetch").callsFake((input, options) => fetch(googleAddress(input, url), options));
}
