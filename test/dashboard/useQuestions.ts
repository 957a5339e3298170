import { createJob } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

/** A form with a field of each kind. */
export const SCHEMA = {
  type: "object",
  properties: {
    version: { type: "string", title: "Version", description: "Such as v7", pattern: "^v\\d+$" },
    note: { type: "string", title: "Note", maxLength: 2_000 },
    rows: { type: "integer", title: "Rows at a time", minimum: 1, default: 500 },
    notify: { type: "boolean", title: "Notify everybody" },
    color: { type: "string", title: "Colour", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    regions: { type: "array", title: "Regions", items: { type: "string", enum: ["eu", "us"] } },
    at: { type: "string", title: "Publish at", format: "date-time" },
  },
  required: ["version", "rows", "color"],
};

/** Opens the page on a service with a job for each test, whose questions `ask` opens. @param onReady receives the job */
export function useQuestions(onReady: (ready: { jobId: string; path: string }) => void) {
  let path: string;
  const pages = useDashboard();
  const { app } = pages;
  beforeEach(async () => {
    const job = await createJob(app, { name: "Nightly import" });
    ({ path } = job);
    onReady(job);
  });
  const ask = (key: string, body: object = {}) =>
    app.call("PUT", `${path}/gates/${key}`, { title: `${key}?`, message: "12 prices differ.", ...body });
  return { ...pages, ask };
}
