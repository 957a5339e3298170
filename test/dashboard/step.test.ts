import { createJob, report } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard panel of a step", () => {
  const { app, openLive } = useDashboard();

  const openStep = async (jobId: string, stepKey: string, options = {}) => {
    const page = await openLive(`/jobs/${jobId}?step=${stepKey}`, options);
    return { page, panel: page.locator(".panel") };
  };

  it("shows the outputs that a step reports while it runs, and its end", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { progress: 10 });
    const { panel } = await openStep(jobId, "a");
    await panel.getByText("No output yet").waitFor();

    await report(app, path, "a", { progress: 20, output: { rows: 1 } });
    await panel.getByText('"rows": 1').waitFor();
    await report(app, path, "a", { status: "completed", output: { rows: 2 } });

    await panel.getByText('"rows": 2').waitFor();
    await panel.getByText("Completed").waitFor();
  });
});
