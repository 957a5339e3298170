import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";
import { type SmtpFixture, startSmtpServer } from "../../support/servers/smtpServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

describe("alerts by ntfy and mail", () => {
  let ntfy: ChannelServer;
  let smtp: SmtpFixture;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    ntfy = await startChannelServer(answers(200, { id: "m1", event: "message" }));
    smtp = await startSmtpServer();
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      channels: {
        ntfy: { baseUrl: ntfy.url, priority: 4 },
        email: { host: "127.0.0.1", port: smtp.port, security: "none", from: "box@example.com" },
      },
      notify: [
        { id: "phone", on: ["job.failed"], to: { channel: "ntfy", to: "ops" } },
        { id: "mail", on: ["job.failed"], to: { channel: "email", to: "ops@example.org" }, template: "**Look** at it" },
      ],
    };
    app = await startApp({ config: JSON.stringify(config) });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await Promise.all([ntfy.close(), smtp.close()]);
  });

  it("have a title, and a link to the job", async () => {
    await app.call("PUT", "/api/jobs/nightly-7", { name: "Nightly backup" });
    await app.call("PUT", "/api/jobs/nightly-7", { status: "failed", message: "disk full" });

    const push = await eventually(() => ntfy.requests[0], "the notification");
    const mail = await eventually(() => smtp.mails[0], "the mail");

    const link = "https://jobs.example.com/jobs/nightly-7";
    expect(push.path).to.equal("/ops");
    expect(push.headers).to.include({ title: "Nightly backup failed", click: link, priority: "4" });
    expect(push.text).to.include("disk full");
    expect(mail.to).to.deep.equal(["ops@example.org"]);
    expect(mail.text).to.match(/^Subject: Nightly backup failed\r$/m);
    expect(mail.text).to.include(`Look at it\r\n\r\n${link}\r\n`);
    expect(mail.text).to.include("<div><b>Look</b> at it</div>");
  });
});
