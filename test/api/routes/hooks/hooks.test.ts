import { request as httpRequest } from "node:http";
import { expect } from "chai";
import { type Answer, startApp, type TestApp } from "../../../support/app.ts";
import { freeze } from "../../../support/freeze.ts";
import { startRedis, type TestServer } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const config = (more = "") => `{ hooks: { enabled: true, token: "${TOKEN}"${more} } }`;
const UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

describe("POST /hooks/agent and /hooks/wake", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ config: config() });
  });
  after(() => app.close());
  const post = (hook: string, body: unknown, headers: Record<string, string> = bearer): Promise<Answer> =>
    app.call("POST", `/hooks/${hook}`, body, headers);
  const runs = async () => (await app.call("GET", "/api/runs")).body.runs;

  it("agent: answers 202 with runId, a random sessionKey and the Location of the run", async () => {
    const { status, body, headers } = await post("agent", { message: "Sum it up", name: "Report", extra: 1 });

    expect(status).to.equal(202);
    expect(body).to.have.all.keys("ok", "runId", "sessionKey");
    expect(body.ok).to.equal(true);
    expect(body.sessionKey).to.match(new RegExp(`^hook:${UUID}$`));
    expect(headers.get("Location")).to.equal(`/api/runs/${body.runId}`);
    const run = (await app.call("GET", `/api/runs/${body.runId}`)).body;
    expect(run).to.deep.include({ runId: body.runId, kind: "agent", name: "Report", status: "queued", attempts: 0 });
    expect(run).to.deep.include({ reply: null, error: null, deliveries: [], startedAt: null, endedAt: null });
  });

  for (const [title, sent] of [
    ["its channel", { channel: "telegram", to: "Ada L." }],
    ["that of the main session", { to: "Ada L." }],
    ["that of the main session, named as last", { channel: "last", to: "Ada L." }],
  ] as const) {
    it(`agent: refuses with 400 a recipient to whom ${title} can never send`, async () => {
      const main = "{ channel: 'telegram', to: '1' }";
      const chat = await startApp({ config: config().replace(/}$/, `, session: { main: ${main} } }`) });
      try {
        const { status, body } = await chat.call("POST", "/hooks/agent", { message: "x", ...sent }, bearer);

        expect([status, body.errors]).to.deep.equal([
          400,
          [{ pointer: "/to", detail: "must be a chat id, @channel or chat:topic" }],
        ]);
        expect((await chat.call("GET", "/api/runs")).body.runs).to.deep.equal([]);
      } finally {
        await chat.close();
      }
    });
  }

  it("wake: answers 200 with the mode and an eventId, and queues one event", async () => {
    const now = await post("wake", { text: "Backup done" });
    const later = await post("wake", { text: "Disk at 80 %", mode: "next-heartbeat" });

    expect([now.status, later.status]).to.deep.equal([200, 200]);
    expect(now.body).to.include({ ok: true, mode: "now" });
    expect(later.body).to.include({ ok: true, mode: "next-heartbeat" });
    const { events: waiting } = await app.stores.mainEvents.findWaiting({ limit: 10, maxChars: 1e6 });
    expect(waiting.map(({ _id, text, wake }) => ({ _id, text, wake }))).to.deep.equal([
      { _id: now.body.eventId, text: "Backup done", wake: true },
      { _id: later.body.eventId, text: "Disk at 80 %", wake: false },
    ]);
  });

  it("accepts the token as Bearer, as x-service-token and as ?token=, which logs one warning without the token", async () => {
    const forms = [
      await post("wake", { text: "x" }),
      await post("wake", { text: "x" }, { "X-Service-Token": TOKEN }),
      await app.call("POST", `/hooks/wake?token=${TOKEN}`, { text: "x" }),
      await app.call("POST", `/hooks/wake?token=${TOKEN}`, { text: "x" }),
    ];

    expect(forms.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(app.log.filter(({ msg }) => String(msg).includes("deprecated"))).to.have.length(1);
    expect(JSON.stringify(app.log)).to.not.include(TOKEN);
  });

  it("accepts a valid token beside a wrong one, and logs no warning about a wrong token in the URL", async () => {
    const app = await startApp({ config: config() });
    const post = (query: string, headers: Record<string, string>) =>
      app.call("POST", `/hooks/wake${query}`, { text: "x" }, headers);
    try {
      const wrong = await post("?token=wrong", {});
      const right = [
        await post("", { Authorization: "Bearer wrong", "x-service-token": TOKEN }),
        await post("?token=a&token=b", bearer),
        await post(`?token=${TOKEN}`, { Authorization: "Bearer wrong" }),
      ];

      expect([wrong, ...right].map(({ status }) => status)).to.deep.equal([401, 200, 200, 200]);
      expect(app.log.filter(({ msg }) => String(msg).includes("?token="))).to.have.length(1);
    } finally {
      await app.close();
    }
  });

  it("sends 100 Continue only when the token is valid", async () => {
    const ask = (token: string) =>
      new Promise<{ status: number | undefined; continued: boolean }>((resolve, reject) => {
        const headers = {
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/json",
          Expect: "100-continue",
        };
        const request = httpRequest(`${app.url}/hooks/wake`, { method: "POST", headers });
        let continued = false;
        request.once("continue", () => {
          continued = true;
          request.end(JSON.stringify({ text: "x" }));
        });
        request.once("response", (response) => {
          response.resume();
          request.destroy();
          resolve({ status: response.statusCode, continued });
        });
        request.once("error", reject);
        request.flushHeaders();
      });

    expect(await ask(TOKEN)).to.deep.equal({ status: 200, continued: true });
    expect(await ask("wrong")).to.deep.equal({ status: 401, continued: false });
  });

  it("answers a missing or wrong token with 401 before the body is read and the name is looked up", async () => {
    const answers = [
      await post("agent", "{ not json", {}),
      await post("agent", { message: "x" }, { Authorization: "Bearer wrong" }),
      await post("nobody", { message: "x" }, { "X-Service-Token": "wrong" }),
      await app.call("GET", "/hooks/agent"),
    ];

    for (const { status, body, headers } of answers) {
      expect([status, body.code]).to.deep.equal([401, "unauthorized"]);
      expect(headers.get("WWW-Authenticate")).to.match(/^Bearer/);
    }
  });

  const refused: [string, string, object, string][] = [
    ["agent", "a blank message", { message: " \n" }, "/message"],
    ["agent", "no message", {}, "/message"],
    ["agent", "a message that is no text", { message: 5 }, "/message"],
    ["agent", "an unknown wakeMode", { message: "x", wakeMode: "later" }, "/wakeMode"],
    ["agent", 'deliver as "false"', { message: "x", deliver: "false" }, "/deliver"],
    ["agent", "an unknown channel", { message: "x", channel: "fax" }, "/channel"],
    ["agent", "a time-out of 0", { message: "x", timeoutSeconds: 0 }, "/timeoutSeconds"],
    ["agent", "a negative time-out", { message: "x", timeoutSeconds: -1 }, "/timeoutSeconds"],
    ["agent", "the main session's key", { message: "x", sessionKey: "main" }, "/sessionKey"],
    ["agent", "a sessionKey with a line feed", { message: "x", sessionKey: "a\nb" }, "/sessionKey"],
    ["wake", "a blank text", { text: "" }, "/text"],
    ["wake", "no text", {}, "/text"],
    ["wake", "an unknown mode", { text: "x", mode: "soon" }, "/mode"],
  ];
  for (const [hook, title, body, pointer] of refused) {
    it(`${hook}: answers ${title} with 400 at ${pointer}, and stores nothing`, async () => {
      const before = [await runs(), await app.stores.mainEvents.countWaiting()];

      const answer = await post(hook, body);

      expect([answer.status, answer.body.code]).to.deep.equal([400, "invalid_body"]);
      expect(answer.body.errors[0].pointer).to.equal(pointer);
      expect([await runs(), await app.stores.mainEvents.countWaiting()]).to.deep.equal(before);
    });
  }

  it("answers a body that is not an object with 400, and one over hooks.maxBodyBytes with 413", async () => {
    const list = await post("agent", "[1]");
    const large = await post("agent", { message: "x".repeat(262_144) });

    expect([list.status, large.status]).to.deep.equal([400, 413]);
    expect(large.body.code).to.equal("body_too_large");
  });

  it("names the field that a missing one may be misspelled as", async () => {
    const { status, body } = await post("agent", { mesage: "x", other: 1 });

    expect([status, body.detail]).to.deep.equal([400, "message is required; is mesage misspelled?"]);
  });

  it("answers an unknown name with 404 hook_not_found, and another method with 405", async () => {
    const unknown = await post("nobody", { message: "x" });
    const method = await app.call("GET", "/hooks/agent", undefined, bearer);

    expect([unknown.status, unknown.body.code]).to.deep.equal([404, "hook_not_found"]);
    expect([method.status, method.headers.get("Allow")]).to.deep.equal([405, "POST, OPTIONS"]);
  });

  it("answers a repeated Idempotency-Key with the same body like the first request, without another effect", async () => {
    const headers = { ...bearer, "Idempotency-Key": "order-7" };
    const before = (await runs()).length;

    const answers = await Promise.all(Array.from({ length: 10 }, () => post("agent", { message: "once" }, headers)));

    expect(new Set(answers.map(({ status, body }) => `${status} ${body.runId} ${body.sessionKey}`))).to.have.property(
      "size",
      1,
    );
    expect(await runs()).to.have.length(before + 1);
  });

  it("triggers no second heartbeat and creates no second tracked job for a repeated Idempotency-Key", async () => {
    const app = await startApp({
      config: `{ hooks: { enabled: true, token: "${TOKEN}" }, agents: { defaults: { trackAsJob: true } } }`,
    });
    try {
      let triggers = 0;
      app.queues.triggerHeartbeat = async () => {
        triggers++;
      };
      const key = { ...bearer, "Idempotency-Key": "k" };
      for (let i = 0; i < 2; i++) await app.call("POST", "/hooks/wake", { text: "x" }, key);
      const other = { ...bearer, "Idempotency-Key": "l" };
      const { body } = await app.call("POST", "/hooks/agent", { message: "x" }, other);
      const made = await app.call("DELETE", `/api/jobs/${body.runId}`);
      await app.call("POST", "/hooks/agent", { message: "x" }, other);

      expect(triggers).to.equal(1);
      expect(made.status).to.equal(200);
      expect((await app.call("GET", `/api/jobs/${body.runId}`)).status).to.equal(404);
    } finally {
      await app.close();
    }
  });

  it("answers a repeated Idempotency-Key with another body with 409, but accepts it on another hook", async () => {
    const headers = { ...bearer, "Idempotency-Key": "order-8" };
    const first = await post("wake", { text: "once" }, headers);
    const again = await post("wake", { text: "once" }, headers);
    const other = await post("wake", { text: "twice" }, headers);
    const elsewhere = await post("agent", { message: "once" }, headers);
    const otherElsewhere = await post("agent", { message: "twice" }, headers);

    expect(again.body).to.deep.equal(first.body);
    expect([other.status, other.body.code]).to.deep.equal([409, "idempotency_conflict"]);
    expect(elsewhere.status).to.equal(202);
    expect(otherElsewhere.status).to.equal(409);
  });

  it("answers an Idempotency-Key of 256 characters with 400", async () => {
    const { status } = await post("wake", { text: "x" }, { ...bearer, "Idempotency-Key": "k".repeat(256) });

    expect(status).to.equal(400);
  });

  it("lists the runs newest first, by status and session, in pages", async () => {
    const sessionKey = "list-me";
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await post("agent", { message: `m${i}`, sessionKey })).body.runId);
      app.clock.advance(5);
    }

    const first = (await app.call("GET", `/api/runs?sessionKey=${sessionKey}&status=queued&limit=3`)).body;
    const rest = (await app.call("GET", `/api/runs?sessionKey=${sessionKey}&cursor=${first.nextCursor}`)).body;

    expect([...first.runs, ...rest.runs].map(({ runId }) => runId)).to.deep.equal(ids);
    expect(rest.nextCursor).to.equal(null);
  });

  it("answers the messages of an unknown session with 404, and of one whose first run waits with an empty list", async () => {
    await app.call("POST", "/hooks/agent", { message: "x", sessionKey: "hook:waits" }, bearer);

    const read = (key: string) => app.call("GET", `/api/sessions/${key}/messages`);
    expect((await read("hook:waits")).body).to.deep.equal({ messages: [], nextCursor: null });
    expect((await read("main")).body).to.deep.equal({ messages: [], nextCursor: null });
    expect(await read("nobody")).to.deep.include({ status: 404 });
    expect((await read("nobody")).body).to.include({ code: "session_not_found" });
  });

  it("reads the latest messages of a session, up to the limit", async () => {
    const turn = { sessionKey: "s", prompt: "q", outside: false, reply: "a", endedAt: new Date() };
    for (let i = 0; i < 3; i++) await app.stores.messages.addTurn(`turn-${i}`, { ...turn, prompt: `q${i}` });

    const { body } = await app.call("GET", "/api/sessions/s/messages?limit=3");

    expect(body.messages.map(({ content }: { content: string }) => content)).to.deep.equal(["a", "q2", "a"]);
  });

  it("answers an unknown run with 404", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/retry"],
      ["POST", "/cancel"],
    ] as const) {
      const { status, body } = await app.call(method, `/api/runs/nobody${path}`);
      expect([status, body.code]).to.deep.equal([404, "run_not_found"]);
    }
  });
});

describe("hooks.enabled: false", () => {
  it("answers every path under hooks.path with 404", async () => {
    const app = await startApp();
    try {
      for (const path of ["/hooks", "/hooks/wake", "/hooks/agent", "/hooks/x"]) {
        expect((await app.call("POST", path, { text: "x" }, bearer)).status, path).to.equal(404);
      }
    } finally {
      await app.close();
    }
  });
});

describe("session key policy", () => {
  const cases: [string, string, object, number, string | undefined][] = [
    ["a default key", ', defaultSessionKey: "inbox"', {}, 202, "inbox"],
    ["a request's own key", ', defaultSessionKey: "inbox"', { sessionKey: "mine" }, 202, "mine"],
    ["a key where requests may set none", ", allowRequestSessionKey: false", { sessionKey: "mine" }, 400, undefined],
    ["a key with an allowed prefix", ', allowedSessionKeyPrefixes: ["ci:"]', { sessionKey: "ci:7" }, 202, "ci:7"],
    ["a key without an allowed prefix", ', allowedSessionKeyPrefixes: ["ci:"]', { sessionKey: "mine" }, 400, undefined],
  ];

  for (const [title, more, body, isAlone] of [
    ["no key at all", "", {}, true],
    ["a key of its own", "", { sessionKey: "mine" }, false],
    ["a default key", ', defaultSessionKey: "inbox"', {}, false],
  ] as const) {
    it(`makes a run whose session is single-use (${isAlone}) for ${title}`, async () => {
      const app = await startApp({ config: config(more) });
      try {
        const { body: answer } = await app.call("POST", "/hooks/agent", { message: "x", ...body }, bearer);

        expect(await app.stores.runs.find(answer.runId)).to.include({ singleUse: isAlone });
      } finally {
        await app.close();
      }
    });
  }

  for (const [title, more, body, status, sessionKey] of cases) {
    it(`answers ${title} with ${status}`, async () => {
      const app = await startApp({ config: config(more) });
      try {
        const answer = await app.call("POST", "/hooks/agent", { message: "x", ...body }, bearer);

        expect(answer.status).to.equal(status);
        expect(answer.body.sessionKey).to.equal(sessionKey);
      } finally {
        await app.close();
      }
    });
  }
});

describe("hook token under /api", () => {
  it("may read single runs beside the API token, and nothing else", async () => {
    const app = await startApp({ config: config(), apiToken: "the-token-of-the-api" });
    try {
      const { body } = await app.call("POST", "/hooks/agent", { message: "x" }, bearer);

      const read = await app.call("GET", `/api/runs/${body.runId}`, undefined, bearer);
      const cancel = await app.call("POST", `/api/runs/${body.runId}/cancel`, undefined, bearer);
      const jobs = await app.call("GET", "/api/jobs", undefined, bearer);
      const nobody = await app.call("GET", `/api/runs/${body.runId}`);

      expect([read.status, cancel.status, jobs.status, nobody.status]).to.deep.equal([200, 401, 401, 401]);
    } finally {
      await app.close();
    }
  });
});

describe("hooks while Redis is unavailable", () => {
  const ways = [
    ["dead", (redis: TestServer) => redis.stop("SIGKILL")],
    ["frozen", (redis: TestServer) => freeze(redis.pid)],
  ] as const;
  for (const [title, takeAway] of ways) {
    it(`(${title}) are accepted and stored; wrong tokens are counted in the process`, async () => {
      const redis = await startRedis();
      const app = await startApp({ config: config(), redis: redis.url });
      try {
        await takeAway(redis);

        const agent = await app.call("POST", "/hooks/agent", { message: "x" }, bearer);
        const wake = await app.call("POST", "/hooks/wake", { text: "x" }, bearer);
        const wrong = await Promise.all(
          Array.from({ length: 21 }, () => app.call("POST", "/hooks/wake", {}, { "x-service-token": "wrong" })),
        );

        expect([agent.status, wake.status]).to.deep.equal([202, 200]);
        expect((await app.call("GET", `/api/runs/${agent.body.runId}`)).body.status).to.equal("queued");
        expect(await app.stores.mainEvents.countWaiting()).to.equal(1);
        expect(wrong.map(({ status }) => status).sort()).to.deep.equal([...Array(20).fill(401), 429]);
      } finally {
        await redis.remove();
        await app.close();
      }
    });
  }
});
