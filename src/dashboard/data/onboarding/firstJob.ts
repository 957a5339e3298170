import { curl, type NeededToken, type Tutorial } from "./steps.ts";

const NAME = "My first job";

/** Returns the ways to the first job. @param token the token of the API, if the service needs one */
export function firstJob(token: NeededToken | null): readonly Tutorial[] {
  const put = (path: string, body: object) => curl("PUT", `$SIGNALBOX_URL/api/jobs/my-job${path}`, body, token);
  return [
    {
      title: "curl",
      steps: [
        { title: "Create a job", text: put("", { name: NAME }) },
        {
          title: "Report its only step",
          text: put("/steps/work", {
            stepName: "Work",
            status: "completed",
            progress: 100,
            jobProgressStart: 0,
            jobProgressEnd: 100,
            output: { done: true },
          }),
        },
      ],
    },
    {
      title: "JavaScript",
      needs: "It needs Node 20 or later, and the package signalbox or signalbox-client, or a clone of Signalbox.",
      steps: [
        { title: "Save this as first-job.mjs", text: javascript(token) },
        { title: "Run it", text: "node first-job.mjs" },
      ],
    },
    {
      title: "Python",
      needs: "It needs Python 3.9 or later, and the package signalbox-client or a clone of Signalbox.",
      steps: [
        { title: "Save this as first_job.py", text: PYTHON },
        { title: "Run it", text: "python3 first_job.py" },
      ],
    },
    {
      title: "signalbox run",
      needs: "It needs the package signalbox, or a clone of Signalbox.",
      steps: [
        {
          title: "Run any command as a job",
          text: `npx signalbox run --name "${NAME}" -- sh -c 'echo Half; sleep 5; echo Done'`,
        },
        { title: "List the jobs", text: "npx signalbox jobs list" },
      ],
    },
  ];
}

const javascript = (token: NeededToken | null): string => `import { createClient } from "signalbox/client";

const client = createClient({
  url: process.env.SIGNALBOX_URL,${token ? `\n  token: process.env.${token.variable},` : ""}
});
const job = client.job("my-job");
await job.create({ name: "${NAME}" });
await job.step("work", { name: "Work", from: 0, to: 100 }).run(async (step) => {
  step.progress(50, "Half done");
  return { done: true };
});
await client.close();`;

const PYTHON = `from signalbox_client import Client

with Client() as client:
    job = client.job("my-job")
    job.create(name="${NAME}")
    with job.step("work", name="Work", start=0, end=100) as step:
        step.progress(50, "Half done")
        step.output = {"done": True}`;
