import { expect } from "chai";
import { recipientFault } from "../../src/config/channels/recipients.ts";
import { ConfigError, parseConfig } from "../../src/config/load.ts";
import { redactConfig } from "../../src/config/redact.ts";
import { CHANNELS } from "../../src/shared/channelNames.ts";
import { NOTIFICATION_TYPES } from "../../src/shared/notifications/catalogue.ts";

const secretOf = (bytes: number, fill = 7) => `whsec_${Buffer.alloc(bytes, fill).toString("base64")}`;
const SECRET = secretOf(24);
const WEBHOOK = { url: "https://x.example/in", secret: SECRET };
const TELEGRAM = { telegram: { botToken: "1:a" } };
const NTFY_AND_EMAIL = { ntfy: {}, email: { host: "mail.example", from: "a@example.com" } };

/** Parses a configuration with one channel and one expectation. */
function problemsOf(file: object): readonly string[] {
  try {
    parseConfig(JSON.stringify({ channels: TELEGRAM, expect: [{ id: "b", name: "B", every: "1d" }], ...file }), {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const rule = (more: object) => ({ id: "r", on: ["job.failed"], to: { webhook: WEBHOOK }, ...more });
const webhook = (more: object) => rule({ to: { webhook: { ...WEBHOOK, ...more } } });
const message = (more: object, to: object = { channel: "telegram", to: "1" }) => rule({ to, ...more });

describe("notify: the check of a rule", () => {
  const refused: [string, object, string][] = [
    ["no target", rule({ to: {} }), "to has no target: give exactly one of webhook, channel, wake"],
    [
      "several targets",
      rule({ to: { webhook: WEBHOOK, wake: "now" } }),
      "to has several targets (webhook, wake): give exactly one of webhook, channel, wake",
    ],
    [
      "a recipient beside a webhook",
      rule({ to: { webhook: WEBHOOK, to: "1" } }),
      "to.to has no effect with to.webhook: remove it, or set to.channel",
    ],
    [
      "a recipient beside wake",
      rule({ to: { wake: "now", to: "1" } }),
      "to.to has no effect with to.wake: remove it, or set to.channel",
    ],
    [
      "a channel without a recipient",
      message({}, { channel: "telegram" }),
      "to.to is missing: name the recipient on telegram, or set to.channel to last",
    ],
    ["a blank recipient", message({}, { channel: "telegram", to: " " }), "to.to must not be blank"],
    [
      "a channel that is not configured",
      message({}, { channel: "slack", to: "#a" }),
      "to.channel is slack, which is not configured: add channels.slack",
    ],
    [
      "an unknown channel",
      message({}, { channel: "fax", to: "1" }),
      `to.channel must be one of last, ${CHANNELS.join(", ")}`,
    ],
    [
      "an unknown key of the target",
      message({}, { chanel: "telegram" }),
      "to.chanel is not a known key; did you mean notify.0.to.channel?",
    ],
    [
      "an unknown event",
      rule({ on: ["job.faild"] }),
      `on.0 must be one of ${NOTIFICATION_TYPES.join(", ")}, job.progress; did you mean job.failed?`,
    ],
    [
      "progress without live",
      message({ on: ["job.progress"] }),
      "on has job.progress, which is no single event: set to.live to true for one message that follows each job, or remove job.progress",
    ],
    [
      "live without progress",
      message({}, { channel: "telegram", to: "1", live: true }),
      'to.live has no effect without job.progress in on: remove it, or set on to ["job.progress"]',
    ],
    [
      "progress beside another type",
      message({ on: ["job.progress", "job.failed"] }, { channel: "telegram", to: "1", live: true }),
      "on has job.progress and other types: give the other types a rule of their own",
    ],
    [
      "progress on the channel of the main session",
      message({ on: ["job.progress"] }, { channel: "last", live: true }),
      "to.channel must be one of telegram, slack, discord, mattermost, ntfy for job.progress: messages of other targets cannot be edited",
    ],
    [
      "a template for progress",
      message({ on: ["job.progress"], template: "{{job.name}}" }, { channel: "telegram", to: "1", live: true }),
      "template has no effect with job.progress: remove it",
    ],
    [
      "a cooldown for progress",
      message({ on: ["job.progress"], cooldown: "1h" }, { channel: "telegram", to: "1", live: true }),
      "cooldown has no effect with job.progress, whose message is edited: remove it",
    ],
    ["no event", rule({ on: [] }), "on must not be empty"],
    ["an id with capital letters", rule({ id: "Sales" }), "id must look like sales"],
    ["an address that is none", webhook({ url: "https://a b" }), "to.webhook.url is not a valid URL"],
    [
      "an address of another scheme",
      webhook({ url: "ftp://a" }),
      "to.webhook.url must look like https://ci.example.com/signalbox",
    ],
    [
      "an address with a user beside the header that it becomes",
      webhook({ url: "https://me:hidden@x.example", headers: { authorization: "Bearer hidden" } }),
      "to.webhook.url must have no user and password beside to.webhook.headers.Authorization, which they would replace: remove one of them",
    ],
    [
      "an address with a fragment",
      webhook({ url: "https://x.example/#a" }),
      "to.webhook.url must have no fragment (#…): it is never sent",
    ],
    [
      "the reply of a job",
      webhook({ include: ["output", "reply"] }),
      "to.webhook.include has reply, which only events of runs have, and on has none: remove it",
    ],
    [
      "the steps of a run",
      { ...webhook({ include: ["reply", "steps"] }), on: ["run.completed", "job.missing"] },
      "to.webhook.include has steps, which only events of jobs or gates have, and on has none: remove it",
    ],
    ["an unknown format", webhook({ format: "xml" }), "to.webhook.format must be one of standard, cloudevents"],
    [
      "a name that no header can have",
      webhook({ headers: { "X Env": "a" } }),
      "to.webhook.headers.X Env is not a valid name of a header: use letters, digits and -",
    ],
    ...["Webhook-Id", "content-type", "Host"].map((name): [string, object, string] => [
      `the header ${name}`,
      webhook({ headers: { [name]: "a" } }),
      `to.webhook.headers.${name} is set by Signalbox itself: remove it`,
    ]),
    ...["a\nb", "a\r", "a\0", "日本"].map((value): [string, object, string] => [
      `the value ${JSON.stringify(value)} of a header`,
      webhook({ headers: { "X-Env": value } }),
      "to.webhook.headers.X-Env must have no line breaks, other control characters, or characters beyond Latin-1",
    ]),
    [
      "a template beside a webhook",
      rule({ template: "a" }),
      "template has no effect with to.webhook, whose body is the event itself: remove it",
    ],
    [
      "a template that does not parse",
      message({ template: "{{job.name" }),
      'template: line 1, column 1: these braces are never closed: write }} behind the path, or {{"{{"}} for two braces as text',
    ],
    ...["payload", "jobs.name", "query.a", "now", "item", "headers.a"].map((path): [string, object, string] => [
      `a template that refers to ${path}`,
      message({ template: `{{${path}}}` }),
      `template refers to ${path.split(".")[0]}, which events do not have: begin each path with one of type, timestamp, data, job, run, gate, url`,
    ]),
    ["a blank template", message({ template: '{{" "}}\n' }), "template must not be blank"],
    [
      "after without job.failed",
      message({ on: ["job.stale"], after: 2 }),
      "after has no effect, because on does not have job.failed: add that, or remove after",
    ],
    [
      "slow without job.slow",
      message({ slow: { factor: 2 } }),
      "slow has no effect, because on does not have job.slow: add that, or remove slow",
    ],
    [
      "a least time without a factor",
      message({ on: ["job.slow"], slow: { longerThan: "2h", after: "1m" } }),
      "slow.after has no effect without slow.factor: add that, or remove slow.after",
    ],
    ["after 0", message({ after: 0 }), "after must be at least 1"],
    ["a cooldown of no time", message({ cooldown: "0s" }), "cooldown must look like 1h"],
    [
      "job.recovered without job.stale",
      message({ on: ["job.recovered"] }),
      "on has job.recovered and not job.stale: add that, because a rule announces only the recovery of jobs that it has announced as stale",
    ],
    [
      "metadata of runs",
      rule({ on: ["run.failed"], where: { metadata: { a: 1 } } }),
      "where.metadata matches only events of jobs and gates, and on has none: remove it, or add one to on",
    ],
    [
      "the job of a missing job",
      rule({ on: ["job.missing"], where: { jobId: "a" } }),
      "where.jobId matches only events of jobs and gates, and on has none: remove it, or add one to on",
    ],
    [
      "the mapping of a missing job",
      rule({ on: ["job.missing"], where: { mapping: "ci" } }),
      "where.mapping matches only events of runs, deliveries and jobs that show a run, and on has none: remove it, or add one to on",
    ],
    [
      "metadata that is nested",
      rule({ where: { metadata: { a: {} } } }),
      "where.metadata.a must be a string or a number or true or false",
    ],
  ];
  for (const [title, one, problem] of refused) {
    it(`refuses ${title}`, () => {
      expect(problemsOf({ notify: [one] })).to.deep.equal([`notify.0.${problem}`]);
    });
  }

  const accepted: [string, object][] = [
    [
      "every key of where together",
      rule({ where: { name: "nightly", jobId: "sales/", metadata: { team: "sales", "a.b": 1 }, mapping: "ci" } }),
    ],
    [
      "all options of a webhook",
      webhook({ headers: { "X-Env": "prod", Authorization: "Bearer é" }, include: ["output"], format: "cloudevents" }),
    ],
    ["an address with a user", webhook({ url: "https://me:hidden@x.example" })],
    ["a server without TLS and with a query", webhook({ url: "http://127.0.0.1:8080/in?token=1" })],
    [
      "a template over every root",
      message({ template: "{{type}}{{timestamp}}{{data.a}}{{job.name}}{{run.name}}{{gate}}{{payload.url}}" }),
    ],
    ["the last channel", message({}, { channel: "last" })],
    ["the last channel with a recipient", message({}, { channel: "last", to: "1" })],
    ["an agent that is woken", message({}, { wake: "next-heartbeat" })],
    ["slow jobs", message({ on: ["job.slow"], slow: { factor: 1.5, after: "10m", longerThan: "2h" } })],
    ["stale and recovered", message({ on: ["job.stale", "job.recovered"] })],
    ["the name of the run of a delivery", rule({ on: ["delivery.failed"], where: { name: "a" } })],
    ["job.missing with an expectation", message({ on: ["job.missing"], where: { name: "B" } })],
    [
      "progress of some jobs",
      message(
        { on: ["job.progress"], where: { jobId: "a", metadata: { a: 1 }, mapping: "ci" } },
        { channel: "telegram", to: "1", live: true },
      ),
    ],
    ["after with other events beside job.failed", message({ on: ["job.failed", "job.stale"], after: 3 })],
  ];
  for (const [title, one] of accepted) {
    it(`accepts ${title}`, () => {
      expect(problemsOf({ notify: [one] })).to.deep.equal([]);
    });
  }

  it("accepts a webhook without any option, and fills in what it includes and its format", () => {
    const { notify } = parseConfig(JSON.stringify({ notify: [rule({})] }), {});

    expect(notify[0]?.to.webhook).to.deep.equal({ ...WEBHOOK, include: [], format: "standard" });
  });

  it("refuses the last channel if none is configured", () => {
    expect(problemsOf({ channels: {}, notify: [message({}, { channel: "last" })] })).to.deep.equal([
      "notify.0.to.channel is last and no channel is configured: add one to channels",
    ]);
  });

  it("refuses job.missing if there is no expectation", () => {
    expect(problemsOf({ expect: [], notify: [rule({ on: ["job.missing"] })] })).to.deep.equal([
      "notify.0.on has job.missing, which only an expectation raises: add one to expect, or remove job.missing",
    ]);
  });

  it("refuses two rules and two expectations with one id", () => {
    const missing = { id: "b", name: "B", every: "1d" };

    expect(problemsOf({ notify: [rule({}), rule({})], expect: [missing, missing] })).to.deep.equal([
      "notify.1.id is used twice: notify.0 has the id r too",
      "expect.1.id is used twice: expect.0 has the id b too",
    ]);
  });

  it("refuses expectations without a time, with two, and with a time that does not exist", () => {
    const of = (time: object) => problemsOf({ expect: [{ id: "a", name: "A", ...time }] });
    expect(of({})).to.deep.equal(["expect.0 has neither every nor cron: set one of them"]);
    expect(of({ every: "1d", cron: "0 3 * * *" })).to.deep.equal(["expect.0 has every and cron: remove one of them"]);
    expect(of({ every: "1d", timezone: "UTC" })).to.deep.equal([
      "expect.0.timezone has no effect without cron: remove it",
    ]);
    expect(of({ cron: "0 3 * *", timezone: "Berlin" })).to.deep.equal([
      "expect.0.timezone is Berlin, which is no time zone: name one such as Europe/Berlin",
      "expect.0.cron must have five fields: minute, hour, day of month, month and day of week",
    ]);
  });

  it("refuses expectations without a name", () => {
    expect(problemsOf({ expect: [{ id: "a" }, { id: "c", name: "", every: "daily" }] })).to.deep.equal([
      "expect.0.name is missing",
      "expect.1.name must not be empty",
      "expect.1.every must look like 1d",
    ]);
  });
});

describe("notify: a secret that signs requests", () => {
  const MAKE = "create one with `echo whsec_$(openssl rand -base64 32)`";
  const faults: [string, unknown, string][] = [
    ["no secret", undefined, " is missing"],
    ["an empty text", "", " must not be empty"],
    ["an empty list", [], " must not be empty"],
    ["three secrets", [SECRET, secretOf(24, 1), secretOf(24, 2)], " must have at most 2 items"],
    ["a number", 5, " must be a string or a list"],
    ["a secret without its prefix", SECRET.slice(6), ` must be whsec_ and base64: ${MAKE}`],
    ["a private key", SECRET.replace("whsec_", "whsk_"), ` must be whsec_ and base64: ${MAKE}`],
    ["a text that is no base64", "whsec_not-base-64!", ` must be whsec_ and base64: ${MAKE}`],
    ["base64 without its padding", secretOf(25).replace(/=+$/, ""), ` must be whsec_ and base64: ${MAKE}`],
    ["a line break at its end", `${SECRET}\n`, ` must be whsec_ and base64: ${MAKE}`],
    ["23 bytes", secretOf(23), ` must have 24 to 64 bytes after whsec_, and has 23: ${MAKE}`],
    ["65 bytes", secretOf(65), ` must have 24 to 64 bytes after whsec_, and has 65: ${MAKE}`],
    ["a bad secret in a list", [SECRET, secretOf(2)], `.1 must have 24 to 64 bytes after whsec_, and has 2: ${MAKE}`],
    [
      "the same secret twice",
      [SECRET, SECRET],
      ".1 is the same secret again: list the new secret and the old one, or give only one",
    ],
  ];
  const places: [string, (secret: unknown) => object][] = [
    ["notify.0.to.webhook.secret", (secret) => ({ notify: [webhook({ secret })] })],
    ["outbound.secret", (secret) => ({ outbound: { allowedHosts: ["a"], secret } })],
  ];
  for (const [key, fileWith] of places) {
    for (const [title, secret, problem] of faults) {
      it(`refuses ${title} as ${key}`, () => {
        expect(problemsOf(fileWith(secret))).to.deep.equal([`${key}${problem}`]);
      });
    }

    for (const secret of [SECRET, secretOf(64), [SECRET, secretOf(32)], [SECRET]]) {
      it(`accepts ${typeof secret === "string" ? "a secret" : "a list"} of ${secret.length} as ${key}`, () => {
        expect(problemsOf(fileWith(secret))).to.deep.equal([]);
      });
    }
  }

  it("is not in the printed configuration, alone or in a list, and neither is a header or a password in an address", () => {
    const config = parseConfig(
      JSON.stringify({
        notify: [
          webhook({ url: "https://x.example/hidden?key=hidden", headers: { "X-Key": "hidden" } }),
          { ...webhook({ secret: [SECRET, secretOf(32)] }), id: "s" },
        ],
        outbound: { allowedHosts: ["a"], secret: [SECRET, secretOf(32)] },
      }),
      {},
    );

    const printed = redactConfig(config) as typeof config;

    expect(JSON.stringify(printed)).to.not.match(/whsec_|hidden/);
    expect(printed.notify[0]?.to.webhook).to.include({
      url: "https://x.example/[redacted]",
      secret: "[redacted]",
    });
    expect(printed.notify[0]?.to.webhook?.headers).to.deep.equal({ "X-Key": "[redacted]" });
    expect(printed.notify[1]?.to.webhook?.secret).to.deep.equal(["[redacted]", "[redacted]"]);
    expect(printed.outbound?.secret).to.deep.equal(["[redacted]", "[redacted]"]);
  });

  it("needs hosts that an address can have", () => {
    const allowedHosts = ["a.example", "*.b.example:8443", "[::1]:1", "a:0", "*.127.0.0.1", "a:99999"];

    expect(problemsOf({ outbound: { allowedHosts, secret: SECRET } }).map((one) => one.split(":")[0])).to.deep.equal(
      [3, 4, 5].map((i) => `outbound.allowedHosts.${i} matches no address`),
    );
  });

  it("is not in a problem", () => {
    const problems = problemsOf({
      notify: [
        webhook({
          url: "https://me:s3cret@x#s3cret",
          secret: "s3cret",
          headers: { Host: "s3cret", a: "s3cret\n" },
        }),
      ],
      outbound: { allowedHosts: ["a"], secret: ["s3cret", { a: "s3cret" }] },
    });

    expect(problems.map((problem) => problem.split(" ")[0])).to.deep.equal([
      "outbound.secret.1",
      "notify.0.to.webhook.url",
      "notify.0.to.webhook.secret",
      "notify.0.to.webhook.headers.Host",
      "notify.0.to.webhook.headers.a",
    ]);
    expect(problems.join()).to.not.include("s3cret");
  });
});

describe("server.publicUrl: the check", () => {
  const refused: [string, object, string][] = [
    [
      "a path that is not the base path",
      { publicUrl: "https://a.example/x", basePath: "/y" },
      "server.publicUrl must end with /y, which is server.basePath",
    ],
    [
      "no path beside a base path",
      { publicUrl: "https://a.example", basePath: "/y" },
      "server.publicUrl must end with /y, which is server.basePath",
    ],
    [
      "a path without a base path",
      { publicUrl: "https://a.example/x" },
      "server.publicUrl has the path /x, and server.basePath is not set: set that too, or remove the path",
    ],
    ["an address that is none", { publicUrl: "https://[::" }, "server.publicUrl is not a valid URL"],
    [
      "a slash at its end",
      { publicUrl: "https://a.example/" },
      "server.publicUrl must look like https://jobs.example.com",
    ],
  ];
  for (const [title, server, problem] of refused) {
    it(`refuses ${title}`, () => {
      expect(problemsOf({ server })).to.deep.equal([problem]);
    });
  }

  for (const server of [
    { publicUrl: "https://a.example" },
    { publicUrl: "http://127.0.0.1:3000/a/b", basePath: "/a/b" },
  ]) {
    it(`accepts ${server.publicUrl}`, () => {
      expect(problemsOf({ server })).to.deep.equal([]);
    });
  }
});

describe("hooks.path: the check", () => {
  for (const path of ["/notify", "/answer", "/notify/x"]) {
    it(`refuses ${path}, where the service itself answers`, () => {
      expect(problemsOf({ hooks: { path } })[0]).to.match(/^hooks\.path must not begin with \/(notify|answer), /);
    });
  }
});

describe("recipients", () => {
  const TOPIC = "must be an ntfy topic: up to 64 letters, digits, - and _";
  const ADDRESS = "must be a mail address, such as ops@example.com";
  const refused: [string, string, string][] = [
    ["ntfy", "my topic!", TOPIC],
    ["ntfy", "https://ntfy.sh/topic", TOPIC],
    ["ntfy", "x".repeat(65), TOPIC],
    ["email", "nobody", ADDRESS],
    ["email", "a@example.com, b@example.com", ADDRESS],
    ["email", "Ops <ops@example.com>", ADDRESS],
  ];
  for (const [channel, to, fault] of refused) {
    it(`to which ${channel} can never send are refused: ${to}`, () => {
      const file = {
        channels: NTFY_AND_EMAIL,
        notify: [message({}, { channel, to })],
        session: { main: { channel, to } },
      };

      expect(problemsOf(file)).to.have.members([`notify.0.to.to ${fault}`, `session.main.to ${fault}`]);
    });
  }

  it("that may exist are accepted", () => {
    for (const [channel, to] of [
      ["ntfy", " my-topic_7 "],
      ["email", "ops@example.com"],
      ["email", "root@localhost"],
    ] as const) {
      const file = {
        channels: NTFY_AND_EMAIL,
        notify: [message({}, { channel, to })],
        session: { main: { channel, to } },
      };

      expect(problemsOf(file)).to.deep.equal([]);
    }
  });

  const ID = "abcdefghijklmnopqrstuvwxyz".slice(0, 26);
  const forms: [channel: string, accepted: string[], refused: string[]][] = [
    ["telegram", ["-100123", "@ops", "1:7"], ["ops", "+49 170", "@a b"]],
    ["slack", ["C0123", "#ops", "U0123:1.2"], ["my channel", "a:b"]],
    ["discord", ["123456789012345678", "user:123456789012345678"], ["#general", "12"]],
    ["mattermost", [ID, `user:${ID}`, "@ann", "team/town-square"], ["some one", "team/"]],
    ["whatsapp", ["+49 151 00000000", "4915100000000"], ["Ann", "0151 00000000", "+49 (0) 151 00000000"]],
    ["signal", ["+4915100000000", "u:ann.01"], ["Ann", "015100000000"]],
    ["imessage", ["+49 151 00000000", "ann@example.com", "iMessage;+;chat1"], ["Ann", "+49 (0) 151 00000000"]],
    ["msteams", ["19:abc@thread.tacv2"], ["..", "\ud800"]],
  ];
  for (const [channel, accepted, refused] of forms) {
    it(`have the forms that ${channel} sends to`, () => {
      for (const to of accepted) expect(recipientFault(channel, ` ${to} `), to).to.equal(undefined);
      for (const to of refused) expect(recipientFault(channel, to), to).to.match(/^must be a|^must be the/);
    });
  }

  it("are checked where a mapping names them without a template", () => {
    const mapping = (to: string) => ({
      match: { path: "a" },
      messageTemplate: "x",
      deliver: true,
      channel: "ntfy",
      to,
    });
    const problems = (to: string) => problemsOf({ channels: NTFY_AND_EMAIL, hooks: { mappings: [mapping(to)] } });

    expect(problems("my topic!")).to.deep.equal([`hooks.mappings.0.to ${TOPIC}`]);
    expect(problems("{{topic}}")).to.deep.equal([]);
  });
});
