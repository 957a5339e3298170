import { resolve } from "node:path";
import { expect } from "chai";
import { Transforms } from "../../src/hooks/transforms.ts";

const PUSH = {
  ref: "refs/heads/fix/login",
  deleted: false,
  compare: "https://github.com/octo/cat/compare/0d1a26e67d8f...f95f852bd8fc",
  repository: { full_name: "octo/cat" },
  pusher: { name: "Codertocat" },
  commits: [
    {
      id: "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c",
      message: "Mend the login\n\nIt was broken.",
      author: { name: "Ann" },
    },
    { id: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", message: "Test it", author: { name: "Bob" } },
  ],
};
const alert = (status: string, name: string, labels: Record<string, string> = {}) => ({
  status,
  labels: { alertname: name, ...labels },
  annotations: { summary: `${name} happens` },
});

describe("examples/transforms", () => {
  const printed: string[] = [];
  const transforms = new Transforms({
    dir: resolve("examples/transforms"),
    timeoutMs: 15_000,
    maxMemoryMiB: 64,
    maxThreads: 2,
    env: {},
    onOutput: (_label, _stream, line) => printed.push(line),
  });
  after(() => transforms.close());
  const run = (
    module: string,
    payload: object,
    { headers = {}, ...given }: { headers?: object; export?: string } = {},
  ) =>
    transforms.run(
      { module, label: "run", input: { payload, headers: { ...headers }, url: "/", path: "", query: {} }, ...given },
      new AbortController().signal,
    );

  describe("githubPush.ts", () => {
    const push = (payload: object, event = "push") =>
      run("githubPush.ts", payload, { headers: { "x-github-event": event } });

    it("makes a short message of a push, in the conversation of its repository", async () => {
      expect(await push(PUSH)).to.deep.equal({
        kind: "result",
        value: {
          name: "GitHub",
          sessionKey: "hook:github:octo/cat",
          message: [
            "Codertocat pushed to fix/login of octo/cat:",
            "- 0d1a26e Mend the login (Ann)",
            "- f95f852 Test it (Bob)",
            PUSH.compare,
          ].join("\n"),
        },
      });
      expect(printed).to.deep.equal(["2 commits on fix/login"]);
    });

    it("names no more than ten commits", async () => {
      const outcome = await push({ ...PUSH, commits: Array(12).fill(PUSH.commits[0]) });

      expect(outcome).to.have.nested.property("value.message").that.includes("\n- and 2 more\n");
    });

    const dropped: [string, object, string][] = [
      ["a deleted branch", { ...PUSH, deleted: true, commits: [] }, "push"],
      ["a push without commits", { ...PUSH, commits: [] }, "push"],
      ["a ping", { zen: "Keep it logically awesome.", hook_id: 1 }, "ping"],
    ];
    for (const [title, payload, event] of dropped) {
      it(`drops ${title}`, async () => {
        expect(await push(payload, event)).to.deep.equal({ kind: "dropped" });
      });
    }
  });

  describe("alerts.js", () => {
    const notify = (...alerts: object[]) => run("alerts.js", { alerts }, { export: "alerts" });

    it("wakes with the alerts that fire, at once when one is critical", async () => {
      const critical = alert("firing", "DiskFull", { severity: "critical" });

      expect(await notify(alert("resolved", "Old"), alert("firing", "Slow"))).to.deep.equal({
        kind: "result",
        value: { kind: "wake", text: "Slow: Slow happens", mode: "next-heartbeat" },
      });
      expect(await notify(alert("firing", "Slow"), critical)).to.deep.equal({
        kind: "result",
        value: { kind: "wake", text: "Slow: Slow happens\nDiskFull: DiskFull happens", mode: "now" },
      });
    });

    it("drops what tells only that all is well again", async () => {
      expect(await notify(alert("resolved", "Slow"))).to.deep.equal({ kind: "dropped" });
    });
  });
});
