import { expect } from "chai";
import type { Job, StepSummary } from "../../../../src/client/client.ts";
import { JobRecord } from "../../../../src/dashboard/data/job/jobRecord.ts";
import { eventually } from "../../../support/eventually.ts";

const TIME = "2026-11-24T08:00:00.000Z";
const LATER = "2026-11-24T08:00:01.000Z";

const job = (message: string, updatedAt = TIME): Job =>
  ({
    jobId: "a",
    name: "A job",
    status: "running",
    progress: 10,
    message,
    createdAt: TIME,
    updatedAt,
    lastReportAt: updatedAt,
  }) as Job;

/** A service whose responses wait for respond(), and the signals of its requests. */
class Service {
  readonly signals: AbortSignal[] = [];
  readonly #pending: PromiseWithResolvers<Job>[] = [];

  get = (_jobId: string, _query: object, { signal }: { signal?: AbortSignal } = {}): Promise<Job> => {
    const response = Promise.withResolvers<Job>();
    this.signals.push(signal as AbortSignal);
    this.#pending.push(response);
    return response.promise;
  };

  steps = async (): Promise<{ steps: StepSummary[]; nextCursor: null }> => ({ steps: [], nextCursor: null });

  respond(at: number, value: Job): void {
    this.#pending[at]?.resolve(value);
  }
}

describe("job record of the dashboard", () => {
  let service: Service;
  let record: JobRecord;
  beforeEach(() => {
    service = new Service();
    record = new JobRecord(service as never, "a");
  });
  afterEach(() => record.close());

  it("discards a response that arrives as a newer reload begins, and shows the newer response", async () => {
    const first = record.reload();
    service.respond(0, job("older"));
    const second = record.reload();
    await first;
    service.respond(1, job("newer", LATER));
    await second;

    await eventually(() => record.snapshot.value.job !== null, "the job to be shown");
    const { messages } = record.snapshot.value;
    expect(messages.map(({ text }) => text)).to.deep.equal(["newer"]);
  });

  it("aborts the newer reload when it is closed after an older response", async () => {
    const first = record.reload();
    service.respond(0, job("older"));
    void record.reload();
    await first;

    record.close();

    expect(service.signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
  });
});
