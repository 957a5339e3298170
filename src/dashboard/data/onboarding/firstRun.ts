import { curl, HOOKS_TOKEN, type Tutorial } from "./steps.ts";

const BODY = { message: "Say hello", name: "First run" };
const { variable } = HOOKS_TOKEN;

/** Returns the ways to the first run of the agent. @param hooksUrl the address of the hooks */
export function firstRun(hooksUrl: string): readonly Tutorial[] {
  const readRun = curl("GET", "$SIGNALBOX_URL/api/runs/RUN_ID", null, HOOKS_TOKEN);
  return [
    {
      title: "curl",
      steps: [
        { title: "Start a run", text: curl("POST", `${hooksUrl}/agent`, BODY, HOOKS_TOKEN) },
        { title: "Read its reply, under the runId of the response", text: readRun },
      ],
    },
    {
      title: "JavaScript",
      steps: [
        { title: "Save this as first-run.mjs", text: javascript(hooksUrl) },
        { title: "Run it with Node 20 or later", text: "node first-run.mjs" },
      ],
    },
    {
      title: "Python",
      steps: [
        { title: "Save this as first_run.py", text: python(hooksUrl) },
        { title: "Run it", text: "python3 first_run.py" },
      ],
    },
    {
      title: "signalbox",
      needs: "It needs the package signalbox, or a clone of Signalbox.",
      steps: [
        {
          title: "Start a run and wait for its reply",
          text: `npx signalbox hooks send agent --message "${BODY.message}" --name "${BODY.name}" --wait`,
        },
        { title: "List the runs", text: "npx signalbox runs list" },
      ],
    },
  ];
}

const javascript = (hooksUrl: string): string => `const response = await fetch("${hooksUrl}/agent", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.${variable}}\`,
    "Content-Type": "application/json",
    Prefer: "wait=30",
  },
  body: JSON.stringify(${JSON.stringify(BODY)}),
});
console.log(await response.json());`;

const python = (hooksUrl: string): string => `import json, os, urllib.request

request = urllib.request.Request(
    "${hooksUrl}/agent",
    data=json.dumps(${JSON.stringify(BODY)}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["${variable}"],
        "Content-Type": "application/json",
        "Prefer": "wait=30",
    },
)
print(json.load(urllib.request.urlopen(request)))`;
