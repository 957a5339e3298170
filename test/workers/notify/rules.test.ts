import { expect } from "chai";
import { createJob, report, whole } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";

const failed = { status: "failed", failJob: true, message: "disk full" };
const completed = { status: "completed", output: { rows: 3 }, ...whole(100) };

describe("notify: limits of rules", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start([
      { id: "third", on: ["job.failed"], to: toWebhook(), after: 3 },
      { id: "hourly", on: ["job.failed", "job.completed"], to: toLog, cooldown: "1h", where: { name: "flapping" } },
      { id: "counted", on: ["job.failed"], to: toWebhook(), cooldown: "1h", where: { name: "counted" } },
    ]);
  });
  after(() => fixture.close());

  async function end(name: string, how: object): Promise<string> {
    const { jobId, path } = await createJob(fixture.app, { name });
    await report(fixture.app, path, "a", how);
    await fixture.dispatched();
    return jobId;
  }

  it("announces a failure from the third in a row of jobs of one name", async () => {
    const ids = [];
    for (const how of [failed, failed, completed, failed, failed, failed, failed]) ids.push(await end("nightly", how));
    await end("another", failed);

    const bodies = await fixture.bodies("third");

    expect(bodies.map(({ data }) => data.job.jobId)).to.deep.equal(ids.slice(5));
  });

  it("sends one message an hour about a flapping job, and then the number of those held back", async () => {
    for (let i = 0; i < 20; i++) await end("flapping", i % 2 === 0 ? failed : completed);
    const first = await fixture.deliveries("hourly");

    fixture.app.clock.advance(3_600_000);
    await end("flapping", failed);

    // A job that takes a second has its duration in the message.
    const texts = (await fixture.deliveries("hourly")).map(({ text }) => text.replace(/ after \d+ s\./, "."));
    expect(first).to.have.length(1);
    expect(texts).to.have.length(2);
    expect(texts[0]).to.equal("**flapping** failed.\n\ndisk full");
    expect(texts[1]).to.equal(
      "**flapping** failed.\n\ndisk full\n\n19 more events were held back since the last message.",
    );
  });

  it("has the number in the body of a webhook", async () => {
    for (let i = 0; i < 3; i++) await end("counted", failed);
    fixture.app.clock.advance(3_600_000);
    await end("counted", failed);

    const bodies = await fixture.bodies("counted");

    expect(bodies.map(({ data }) => data.heldBack)).to.deep.equal([undefined, 2]);
  });
});

describe("notify: conditions and contents of rules", () => {
  const publicUrl = "https://jobs.example.com/base";
  const server = { publicUrl, basePath: "/base" };
  let fixture: NotifyFixture;
  before(async () => {
    const on = ["job.failed", "job.completed"];
    fixture = await NotifyFixture.start(
      [
        { id: "name", on, to: toWebhook(), where: { name: "nightly" } },
        { id: "id", on, to: toWebhook(), where: { jobId: "sales/" } },
        { id: "metadata", on, to: toWebhook(), where: { metadata: { team: "sales", "owner.level": 2 } } },
        { id: "both", on, to: toWebhook(), where: { name: "Nightly", jobId: "sales/" } },
        { id: "mapping", on, to: toWebhook(), where: { mapping: "ci" } },
        { id: "events", on, to: toWebhook({ format: "cloudevents" }), where: { name: "cloud" } },
        { id: "parts", on, to: toWebhook({ include: ["input", "output", "metadata", "steps"] }) },
        { id: "plain", on, to: toWebhook(), where: { jobId: "large" } },
        { id: "linked", on, to: toWebhook(), where: { jobId: "text/linked" } },
        {
          id: "text",
          on,
          to: toLog,
          where: { jobId: "text" },
          template: "{{job.name}} {{{job.name}}}: {{type}} {{data.reason}}{{url}}",
        },
        { id: "default", on, to: toLog, where: { jobId: "text" } },
      ],
      { server },
    );
  });
  after(() => fixture.close());

  it("applies a rule if all its conditions match", async () => {
    const jobs = {
      a: { name: "Nightly backup", metadata: { team: "sales", owner: { level: 2 } } },
      b: { name: "backup Nightly", metadata: { team: "sales" } },
      "sales/1": { name: "NIGHTLY" },
      "sales/2": {},
    };
    for (const [jobId, body] of Object.entries(jobs)) {
      await fixture.app.stores.jobs.put(jobId, { ...body, status: "failed" });
    }
    await fixture.dispatched();

    const idsOf = async (rule: string) => (await fixture.bodies(rule)).map(({ data }) => data.job.jobId).sort();
    expect({
      name: await idsOf("name"),
      id: await idsOf("id"),
      metadata: await idsOf("metadata"),
      both: await idsOf("both"),
      mapping: await idsOf("mapping"),
    }).to.deep.equal({
      name: ["a", "sales/1"],
      id: ["sales/1", "sales/2"],
      metadata: ["a"],
      both: ["sales/1"],
      mapping: [],
    });
  });

  it("sends CloudEvents", async () => {
    await fixture.app.stores.jobs.put("c/1", { name: "cloud", status: "completed" });

    const [delivery] = await fixture.delivered("events", 1);

    const body = JSON.parse(delivery?.webhook?.body ?? "");
    expect(delivery?.webhook?.contentType).to.equal("application/cloudevents+json; charset=utf-8");
    expect(Object.keys(body)).to.deep.equal([
      ...["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"],
    ]);
    expect(body).to.include({
      specversion: "1.0",
      id: delivery?.event?.id,
      source: `${publicUrl}/api`,
      type: "dev.signalbox.job.completed",
      subject: "c/1",
      datacontenttype: "application/json",
    });
    expect(body.data.url).to.equal(`${publicUrl}/jobs/c%2F1`);
  });

  it("names the page of the record in the data of webhooks and callbacks", async () => {
    await fixture.app.stores.jobs.put("sales/ü 1", { status: "failed", callbackUrl: "https://ci.example.com/done" });
    await fixture.dispatched();
    await fixture.app.call("POST", "/api/notify/id/test");
    await fixture.dispatched();

    const bodies = [...(await fixture.bodies("id")), ...(await fixture.bodies(null))];

    const urls = bodies.filter(({ data }) => data.rule || data.job.jobId === "sales/ü 1").map(({ data }) => data.url);
    const page = `${publicUrl}/jobs/sales%2F%C3%BC%201`;
    expect(urls).to.deep.equal([page, `${publicUrl}/`, page]);
  });

  it("includes the parts of the job that the rule names", async () => {
    const text = "x".repeat(100_000);
    await fixture.app.stores.jobs.put("parts", { input: { text }, metadata: { a: 1 } });
    await report(fixture.app, "/api/jobs/parts", "a", { ...completed, output: { text } });
    await fixture.dispatched();

    const found = (await fixture.bodies("parts")).find(({ data }) => data.job.jobId === "parts");

    const { input, output, metadata, steps } = found.data.job;
    expect({ input, output, metadata }).to.deep.equal({ input: { text }, output: { text }, metadata: { a: 1 } });
    expect(steps).to.have.length(1);
    expect(steps[0]).to.deep.include({ stepKey: "a", status: "completed", output: { text } });
  });

  it("names the parts that are too large", async () => {
    const big = { text: "x".repeat(3_000_000) };
    await fixture.app.stores.jobs.put("too-large", { input: big, output: big, status: "completed" });
    await fixture.dispatched();

    const found = (await fixture.bodies("parts")).find(({ data }) => data.job.jobId === "too-large");

    expect(found.data.job.omitted).to.deep.equal(["output"]);
    expect(found.data.job).to.have.any.keys("input");
  });

  it("keeps a body without included parts below 20 kB", async () => {
    const wide = "\u{1F4A5}\u0001".repeat(20_000);
    const name = "\u0002".repeat(1_024);
    await fixture.app.stores.jobs.put("large", { name, description: wide, message: wide, status: "failed" });

    const [delivery] = await fixture.delivered("plain", 1);

    const body = delivery?.webhook?.body ?? "";
    expect(Buffer.byteLength(body)).to.be.below(20_000);
    expect(JSON.parse(body).data.job.message).to.match(/^\u{1F4A5}.*…$/su);
  });

  it("renders the rule's template, or the default text with a link", async () => {
    const { jobs } = fixture.app.stores;
    await jobs.put("text/1", { name: "*Nightly*", message: "see [a](http://b) & _c_", status: "failed" });

    const [rendered] = await fixture.delivered("text", 1);
    const [usual] = await fixture.delivered("default", 1);

    expect(rendered?.text).to.equal(`\\*Nightly\\* *Nightly*: job.failed ${publicUrl}/jobs/text%2F1`);
    expect(usual?.text).to.equal(
      `**\\*Nightly\\*** failed.\n\nsee \\[a\\]\\(http\\:\\/\\/b\\) \\& \\_c\\_\n\n${publicUrl}/jobs/text%2F1`,
    );
  });

  it("has the links of a job, and the last five lines of the log of a failed one", async () => {
    const link = { title: "Build [7]", url: "https://ci.example.com/7?a=<b>" };
    await fixture.app.call("PUT", "/api/jobs/text%2Flinked", { name: "Linked", links: [link] });
    await report(fixture.app, "/api/jobs/text%2Flinked", "a", { ...failed, log: "1\n2\n3\n\x1b[31m4\x1b[0m\n5\n6\n7" });
    await fixture.dispatched();

    const [text] = (await fixture.deliveries("default")).flatMap((one) =>
      one.text?.includes("Linked") ? one.text : [],
    );
    const [hook] = await fixture.bodies("linked");
    expect(text).to.include("\n\n```\n3\n4\n5\n6\n7\n```\n\n[Build \\[7\\]](<https://ci.example.com/7?a=%3Cb%3E>)\n\n");
    expect(hook.data).to.deep.include({ log: ["3", "4", "5", "6", "7"] });
    expect(hook.data.job.links).to.deep.equal([link]);
  });
});

describe("notify: tests of rules", () => {
  let fixture: NotifyFixture;
  before(async () => {
    const where = { name: "never" };
    fixture = await NotifyFixture.start([
      { id: "hook", on: ["job.failed"], where, after: 5, cooldown: "1h", to: toWebhook() },
      { id: "chat", on: ["job.failed"], to: toLog },
    ]);
  });
  after(() => fixture.close());

  it("are sent by that rule alone, whatever its conditions and limits", async () => {
    const eventId = await fixture.app.stores.outbox.addTest("hook");
    await fixture.app.stores.outbox.addTest("hook");
    await fixture.delivered("hook", 2);
    await fixture.app.stores.outbox.addTest("chat");

    const [chat] = await fixture.delivered("chat", 1);

    const deliveries = await fixture.deliveries("hook");
    expect(deliveries.map(({ event }) => event?.type)).to.deep.equal(["test", "test"]);
    expect(deliveries.map(({ event }) => event?.id)).to.include(eventId);
    expect((await fixture.bodies("hook"))[0].data).to.deep.equal({ rule: "hook" });
    expect(chat?.text).to.equal("This is a test of the notification rule **chat**.");
    const metrics = await fixture.worker.metrics.registry.metrics();
    expect(metrics).to.match(/^signalbox_notifications_total\{rule="hook",type="test"\} 2$/m);
  });
});
