import { expect } from "chai";
import { withoutConfiguredNames } from "../../../src/api/metrics/metrics.ts";
import { bearer } from "../../support/app.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const READ = "a-reading-token-of-length";
const HOOK = "a-hook-token-of-length";

describe("GET /metrics with mapped hooks", () => {
  const app = useSharedApp({
    config: `{
        server: { apiToken: "${API}", readOnlyToken: "${READ}" },
        hooks: {
          enabled: true, token: "${HOOK}",
          mappings: [{ match: { path: "secret-name" } }, { id: 'odd "} 7', match: { path: "other" } }],
        },
      }`,
  });
  before(async () => {
    for (const name of ["secret-name", "secret-name", "other"])
      await app.call("POST", `/hooks/${name}`, {}, bearer(HOOK));
    await app.call("POST", "/hooks/wake", { text: "x", mode: "next-heartbeat" }, bearer(HOOK));
  });
  const accepted = async (headers?: Record<string, string>): Promise<string[]> => {
    const { body } = await app.call("GET", "/metrics", undefined, headers);
    return body.split("\n").filter((line: string) => line.startsWith("signalbox_hooks_accepted_total"));
  };

  it("shows one sum for all mappings to readers without a token, with the hook token or with a wrong one", async () => {
    for (const headers of [undefined, bearer(HOOK), bearer("wrong"), { Cookie: "signalbox_session=full.9.a.b" }]) {
      expect(await accepted(headers)).to.have.members([
        'signalbox_hooks_accepted_total{hook="mapped"} 3',
        'signalbox_hooks_accepted_total{hook="wake"} 1',
        'signalbox_hooks_accepted_total{hook="agent"} 0',
      ]);
      expect((await app.call("GET", "/metrics", undefined, headers)).body).to.not.include("secret-name");
    }
  });

  it("shows the counter of each mapping to readers with an API token", async () => {
    for (const token of [API, READ]) {
      expect(await accepted(bearer(token))).to.have.members([
        'signalbox_hooks_accepted_total{hook="secret-name"} 2',
        'signalbox_hooks_accepted_total{hook="odd \\"} 7"} 1',
        'signalbox_hooks_accepted_total{hook="wake"} 1',
        'signalbox_hooks_accepted_total{hook="agent"} 0',
      ]);
    }
  });

  it("shows one sum for the rules of each type of event to readers without a token", () => {
    const counter = (rule: string, type: string, value: number) =>
      `signalbox_notifications_total{rule="${rule}",type="${type}"} ${value}`;
    const text = [
      ...[counter("sales", "job.failed", 2), counter("callback", "job.failed", 4)],
      ...[counter('odd \\" 7', "job.failed", 1), counter("sales", "job.stale", 5)],
    ];

    expect(withoutConfiguredNames(text.join("\n")).split("\n")).to.deep.equal([
      ...[counter("rule", "job.failed", 3), counter("callback", "job.failed", 4), counter("rule", "job.stale", 5)],
    ]);
  });

  it("leaves every other line unchanged", () => {
    const text = '# HELP x y\nother{hook="a"} 1\nsignalbox_hooks_accepted_total{hook="agent"} 2\n';

    expect(withoutConfiguredNames(text)).to.equal(text);
  });
});
