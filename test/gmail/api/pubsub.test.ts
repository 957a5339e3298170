import { expect } from "chai";
import { createPubSub, type PubSub } from "../../../src/gmail/api/pubsub.ts";
import { createGoogleAuth, type GoogleAuth } from "../../../src/gmail/auth/googleAuth.ts";
import { createPubSubSetup, GMAIL_PUBLISHER, type PubSubSetup } from "../../../src/gmail/setup/pubsubSetup.ts";
import { type GoogleServer, googleError, startGoogleServer } from "../../support/gmail/googleServer.ts";
import { hangs } from "../../support/servers/channelServer.ts";

const TOPIC = "projects/p/topics/t";
const SUBSCRIPTION = "projects/p/subscriptions/s";
const never = new AbortController().signal;

describe("Pub/Sub", () => {
  let google: GoogleServer;
  let auth: GoogleAuth;
  let setup: PubSubSetup;
  let pubsub: PubSub;

  beforeEach(async () => {
    google = await startGoogleServer();
    const credentials = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" } as const;
    auth = createGoogleAuth({ credentials, scopes: [], tokenUrl: google.tokenUrl });
    setup = createPubSubSetup(auth, { url: `${google.url}/` });
    pubsub = createPubSub(auth, { url: google.url });
  });

  afterEach(() => google.close());

  const asked = () => google.requestsTo(/\/v1\//).map(({ method, path, body }) => [`${method} ${path}`, body]);
  const changed = () => google.requestsTo(/^(PUT|PATCH|POST .*set)/);

  const ensureAll = async (by = setup) => [
    await by.ensureTopic(TOPIC, never),
    await by.ensurePublisher(TOPIC, GMAIL_PUBLISHER, never),
    await by.ensureSubscription(SUBSCRIPTION, TOPIC, never),
  ];

  it("creates topic, grant and subscription", async () => {
    expect(await ensureAll()).to.deep.equal(["created", "created", "created"]);

    const members = ["serviceAccount:gmail-api-push@system.gserviceaccount.com"];
    const bindings = [{ role: "roles/pubsub.publisher", members }];
    expect(asked()).to.deep.equal([
      [`GET /v1/${TOPIC}`, undefined],
      [`PUT /v1/${TOPIC}`, {}],
      [`GET /v1/${TOPIC}:getIamPolicy?options.requestedPolicyVersion=3`, undefined],
      [`POST /v1/${TOPIC}:setIamPolicy`, { policy: { etag: "ACAB", bindings } }],
      [`GET /v1/${SUBSCRIPTION}`, undefined],
      [
        `PUT /v1/${SUBSCRIPTION}`,
        { topic: TOPIC, ackDeadlineSeconds: 60, messageRetentionDuration: "604800s", expirationPolicy: {} },
      ],
    ]);
  });

  it("changes nothing the second time or in a dry run", async () => {
    const dry = createPubSubSetup(auth, { url: google.url, dryRun: true });
    expect(await ensureAll(dry)).to.deep.equal(["created", "created", "created"]);
    expect(changed()).to.deep.equal([]);
    await ensureAll();
    const before = changed().length;

    expect(await ensureAll()).to.deep.equal(["unchanged", "unchanged", "unchanged"]);
    expect(await ensureAll(dry)).to.deep.equal(["unchanged", "unchanged", "unchanged"]);

    expect(changed()).to.have.length(before);
  });

  it("accepts resources that somebody else created in the meantime", async () => {
    await ensureAll();
    google.fail(/^GET/, googleError(404, "NOT_FOUND", "notFound"), googleError(404, "NOT_FOUND", "notFound"));

    expect(await setup.ensureTopic(TOPIC, never)).to.equal("unchanged");
    expect(await setup.ensureSubscription(SUBSCRIPTION, TOPIC, never)).to.equal("unchanged");
  });

  it("adds the publisher to existing members and keeps conditions and other roles", async () => {
    const conditional = {
      role: "roles/pubsub.publisher",
      members: [GMAIL_PUBLISHER],
      condition: { expression: "false" },
    };
    const viewer = { role: "roles/viewer", members: ["user:bob@example.org"] };
    const publisher = { role: "roles/pubsub.publisher", members: ["user:ada@example.org"] };
    google.pubsub.topics.add(TOPIC);
    google.pubsub.policies.set(TOPIC, { etag: "E1", version: 3, bindings: [conditional, publisher, viewer] });

    expect(await setup.ensurePublisher(TOPIC, GMAIL_PUBLISHER, never)).to.equal("created");

    const members = ["user:ada@example.org", GMAIL_PUBLISHER];
    expect(changed().map(({ body }) => body)).to.deep.equal([
      { policy: { etag: "E1", version: 3, bindings: [conditional, viewer, { ...publisher, members }] } },
    ]);
  });

  it("rereads a policy that somebody else changed, and fails if that happens each time", async () => {
    const aborted = googleError(409, "ABORTED", "aborted");
    google.pubsub.topics.add(TOPIC);
    google.fail(/setIamPolicy/, aborted, aborted);
    expect(await setup.ensurePublisher(TOPIC, GMAIL_PUBLISHER, never)).to.equal("created");
    google.fail(/setIamPolicy/, aborted, aborted, aborted);

    const error = await setup.ensurePublisher(TOPIC, "user:ada@example.org", never).catch((thrown) => thrown);

    expect(error).to.include({ kind: "transient", status: 409 });
    expect(changed()).to.have.length(6);
  });

  it("removes the expiry of a subscription", async () => {
    await setup.ensureTopic(TOPIC, never);
    google.pubsub.subscriptions.set(SUBSCRIPTION, { topic: TOPIC, expirationPolicy: { ttl: "2678400s" } });

    expect(await setup.ensureSubscription(SUBSCRIPTION, TOPIC, never)).to.equal("corrected");
    expect(await setup.ensureSubscription(SUBSCRIPTION, TOPIC, never)).to.equal("unchanged");

    expect(google.requestsTo(/PATCH/).map(({ body }) => body)).to.deep.equal([
      { subscription: { name: SUBSCRIPTION, expirationPolicy: {} }, updateMask: "expirationPolicy" },
    ]);
  });

  for (const [what, subscription] of [
    ["of another topic", { topic: "projects/p/topics/other", expirationPolicy: {} }],
    ["that pushes", { topic: TOPIC, expirationPolicy: {}, pushConfig: { pushEndpoint: "https://example.org" } }],
  ] as const) {
    it(`refuses a subscription ${what}`, async () => {
      google.pubsub.subscriptions.set(SUBSCRIPTION, subscription);

      const error = await setup.ensureSubscription(SUBSCRIPTION, TOPIC, never).catch((thrown) => thrown);

      expect(error).to.have.property("kind", "refused");
      expect(changed()).to.deep.equal([]);
    });
  }

  it("pulls notifications, waits for new ones, and receives them again until they are acknowledged", async () => {
    await ensureAll();
    google.pubsub.publish();
    const first = await pubsub.pull(SUBSCRIPTION, 10, never);
    const waiting = pubsub.pull(SUBSCRIPTION, 10, never);
    google.pubsub.publish({ emailAddress: "ada@example.org", historyId: "9007199254740999" });
    const second = await waiting;
    google.pubsub.redeliver();
    const again = await pubsub.pull(SUBSCRIPTION, 10, never);

    await pubsub.acknowledge(
      SUBSCRIPTION,
      again.map(({ ackId }) => ackId),
      never,
    );
    await pubsub.acknowledge(SUBSCRIPTION, [], never);

    const notices = [...first, ...second].map(({ notification }) => notification);
    expect(notices.map((notification) => notification?.historyId)).to.deep.equal(["1000", "9007199254740999"]);
    expect(again.map(({ notification }) => notification)).to.deep.equal(notices);
    expect(google.pubsub.outstanding(SUBSCRIPTION)).to.equal(0);
    const posts = google.requestsTo(/:(pull|ack)/).map(({ path, body }) => [path, body]);
    expect(posts[0]).to.deep.equal([`/v1/${SUBSCRIPTION}:pull`, { maxMessages: 10 }]);
    expect(posts.slice(3)).to.deep.equal([[`/v1/${SUBSCRIPTION}:acknowledge`, { ackIds: ["ack-3", "ack-4"] }]]);
  });

  it("returns messages that are not notifications, to be acknowledged", async () => {
    await ensureAll();
    for (const notification of [
      null,
      7,
      "words",
      {},
      { emailAddress: "ada@example.org" },
      { emailAddress: 1, historyId: "x" },
    ]) {
      google.pubsub.publish(notification ?? "null");
    }

    const pulled = await pubsub.pull(SUBSCRIPTION, 10, never);

    expect(pulled.map(({ notification }) => notification)).to.deep.equal([null, null, null, null, null, null]);
    expect(pulled.every(({ ackId }) => ackId.startsWith("ack-"))).to.equal(true);
  });

  it("returns nothing if Pub/Sub does not respond in time, and ends when it is stopped", async () => {
    await ensureAll();
    const stop = new AbortController();
    const reason = new Error("stopped");
    google.fail(/:pull/, hangs, (_, request) => {
      stop.abort(reason);
      return request;
    });

    const short = createPubSub(auth, { url: google.url, pullTimeoutMs: 50 });
    const nothing = await short.pull(SUBSCRIPTION, 10, never);
    const ended = await pubsub.pull(SUBSCRIPTION, 10, stop.signal).catch((thrown) => thrown);

    expect(nothing).to.deep.equal([]);
    expect(ended).to.equal(reason);
  });
});
