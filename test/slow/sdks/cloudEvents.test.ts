import { expect } from "chai";
import { CloudEvent, HTTP } from "cloudevents";
import { webhookBody } from "../../../src/workers/notify/webhookBody.ts";

describe("the body of a webhook in the format cloudevents", () => {
  it("is an event that the SDK of CloudEvents parses", () => {
    const data = { job: { jobId: "build", status: "failed" } };
    const event = { id: "evt_1", type: "job.failed" as const, at: new Date(0), subject: "build", data };
    const { body, contentType } = webhookBody(event, data, {
      format: "cloudevents",
      source: "https://jobs.example.com/api",
      hasIncluded: false,
    });

    const parsed = HTTP.toEvent({ headers: { "content-type": contentType }, body: String(body) });

    expect(parsed).to.be.instanceOf(CloudEvent);
    expect((parsed as CloudEvent<object>).toJSON()).to.deep.include({
      specversion: "1.0",
      id: "evt_1",
      source: "https://jobs.example.com/api",
      subject: "build",
    });
  });
});
