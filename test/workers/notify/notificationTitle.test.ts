import { expect } from "chai";
import type { NotificationData } from "../../../src/workers/notify/notification.ts";
import { notificationTitle, summaryTitle } from "../../../src/workers/notify/notificationTitle.ts";

describe("title of a notification", () => {
  const job = { jobId: "backup-7", name: "Nightly\nbackup" };
  const cases: [Parameters<typeof notificationTitle>[0]["type"], object, string][] = [
    ["job.completed", { job }, "Nightly backup completed"],
    ["job.failed", { job: { ...job, name: null } }, "backup-7 failed"],
    ["job.stale", { job }, "Nightly backup is no longer reported"],
    ["job.recovered", { job }, "Nightly backup is reported again"],
    ["job.missing", { expect: { id: "backup", name: "Nightly" } }, "Nightly is missing"],
    ["run.failed", { run: { name: "ci" } }, "ci failed"],
    ["run.dropped", { run: { name: null } }, "The agent run was dropped"],
    ["delivery.failed", { delivery: { channel: "slack" } }, "A delivery to slack failed"],
    ["gate.opened", { job, gate: { title: "Publish?" } }, "Nightly backup asks a question"],
    ["test", { rule: "sales" }, "The rule sales is tested"],
    ["job.failed", { job: { ...job, name: "x".repeat(200) } }, `${"x".repeat(100)}… failed`],
  ];
  for (const [type, data, title] of cases) {
    it(`of ${type} is “${title.slice(0, 40)}”`, () => {
      expect(notificationTitle({ type, data: data as NotificationData })).to.equal(title);
    });
  }

  it("of many notifications has their number", () => {
    expect(summaryTitle(31)).to.equal("31 more events");
    expect(summaryTitle(1)).to.equal("1 more event");
  });
});
