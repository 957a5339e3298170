import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { createJob } from "../support/factories.ts";
import { useSharedApp } from "../support/useApp.ts";
import { onScreen } from "./screen.ts";
import { atTerminal } from "./terminal.ts";

describe("signalbox gates", () => {
  const app = useSharedApp();
  let jobId: string;
  let path: string;
  beforeEach(async () => {
    ({ jobId, path } = await createJob(app));
  });
  const gates = (...args: string[]) => runInProcess(["gates", ...args, "--url", app.url], {});
  const schema = { type: "object", properties: { rows: { type: "integer" } }, required: ["rows"] };
  const open = (key: string, body: object = {}) =>
    app.call("PUT", `${path}/gates/${key}`, { title: "Publish?", ...body });

  it("lists the open gates, and with --status the others", async () => {
    await open("publish");
    await open("old");
    await app.call("POST", `${path}/gates/old/answer`, { action: "decline", answeredBy: "Ann" });
    const listed = await gates("list", "--wide");
    const answered = await gates("list", "--status", "answered", "--json");

    expect([listed.code, answered.code]).to.deep.equal([0, 0]);
    expect(listed.stdout).to.include("publish").and.include("Publish?").and.not.include("old");
    expect(JSON.parse(answered.stdout)).to.include({ key: "old", action: "decline", answeredBy: "Ann" });
  });

  it("lists the gates without ids on a terminal that has no room for them", async () => {
    await open("publish");

    const narrow = onScreen(["gates", "list", "--url", app.url], {}, { columns: 50 });
    await narrow.ended;

    const lines = await narrow.lines();
    expect(lines[0]).to.match(/^KEY +QUESTION +STATUS +AGE$/);
    expect(lines[1]).to.match(/^publish +Publish\? +open /);
  });

  it("answers a gate with its content and name, and exits with 3 for a second answer", async () => {
    await open("publish", { requestedSchema: schema });
    const answered = await gates(
      "answer",
      jobId,
      "publish",
      "accept",
      "--content",
      '{"rows": 5}',
      "--by",
      "Ann",
      "--json",
    );
    const second = await gates("answer", jobId, "publish", "decline");

    expect(answered.code, answered.stderr).to.equal(0);
    expect(JSON.parse(answered.stdout)).to.deep.include({ action: "accept", content: { rows: 5 }, answeredBy: "Ann" });
    expect(second.code).to.equal(3);
    expect(second.stderr).to.include("was answered by").and.include("Ann");
  });

  it("prints the receipt for a token that may answer and read no gate", async () => {
    const [admin, token] = ["an-api-token-of-length", "the-token-of-one-who-answers"];
    const tokens = [{ name: "answerer", token, scopes: ["gates:answer"] }];
    const own = await startApp({ config: JSON.stringify({ server: { apiToken: admin, tokens } }) });
    const asAdmin = { Authorization: `Bearer ${admin}` };
    await own.call("PUT", "/api/jobs/j", {}, asAdmin);
    await own.call("PUT", "/api/jobs/j/gates/publish", { title: "Publish?" }, asAdmin);

    const args = ["gates", "answer", "j", "publish", "accept", "--url", own.url];
    const answered = await runInProcess(args, { SIGNALBOX_API_TOKEN: token });
    const second = await runInProcess(args, { SIGNALBOX_API_TOKEN: token });
    await own.close();

    expect(answered.code, answered.stderr).to.equal(0);
    expect(answered.stdout)
      .to.match(/KEY +STATUS.*\n.*publish +answered +accept/)
      .and.not.include("undefined");
    expect(second.code).to.equal(3);
    expect(second.stderr)
      .to.match(/answered/)
      .and.not.include("Publish?");
  });

  it("lists revisions, and answers no question that has changed since", async () => {
    await open("publish", { title: "Publish 3 prices?" });
    const listed = await gates("list", "--wide");
    await open("publish", { title: "Delete everything?" });
    const refused = await gates("answer", jobId, "publish", "accept", "--revision", "1");
    const answered = await gates("answer", jobId, "publish", "accept", "--revision", "2", "--json");

    expect(listed.stdout)
      .to.match(/ REV +AGE\n/)
      .and.match(/ open +1 +\S/);
    expect([refused.code, answered.code]).to.deep.equal([3, 0]);
    expect(refused.stderr).to.include("has changed since it was shown");
    expect(JSON.parse(answered.stdout)).to.include({ title: "Delete everything?", status: "answered" });
  });

  it("shows the question at a terminal, and answers the one that was shown once it is confirmed", async () => {
    await open("publish", { title: "Publish 3 prices?", message: "12 differ." });
    const args = ["gates", "answer", jobId, "publish", "accept", "--url", app.url];
    const no = atTerminal(args, {});
    const text = await no.shows(/Answer with accept\? \[y\/N\]/);
    no.type("\n");
    const noCode = await no.ended;
    const late = atTerminal(args, {});
    await late.shows(/\[y\/N\]/);
    await open("publish", { title: "Delete everything?" });
    late.type("y\n");
    const lateCode = await late.ended;
    const yes = atTerminal(args, {});
    await yes.shows(/Delete everything\?[\s\S]*\[y\/N\]/);
    yes.type("y\n");
    const yesCode = await yes.ended;

    expect(text).to.include("Publish 3 prices?").and.include("12 differ.");
    expect([noCode, lateCode, yesCode]).to.deep.equal([1, 3, 0]);
    expect(await late.lines()).to.satisfy((lines: string[]) =>
      lines.join(" ").includes("has changed since it was shown"),
    );
  });

  it("rejects content that is not a JSON object or does not fit, and an unknown action", async () => {
    await open("publish", { requestedSchema: schema });
    const text = await gates("answer", jobId, "publish", "accept", "--content", "5");
    const wrong = await gates("answer", jobId, "publish", "accept", "--content", '{"rows": "many"}');
    const action = await gates("answer", jobId, "publish", "yes");

    expect([text.code, wrong.code, action.code]).to.deep.equal([2, 3, 2]);
    expect(text.stderr).to.include("It must be a JSON object, such as");
    expect(wrong.stderr).to.include("content/rows must be an integer");
    expect(action.stderr).to.include("accept, decline, cancel");
  });
});
