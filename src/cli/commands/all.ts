import type { Define, Entry } from "../command.ts";

const leaf = (description: string, load: () => Promise<Define>): Entry => ({ description, load });

// The files with several commands.
const backupFile = () => import("./service/backup.ts");
const jobsFile = () => import("./jobs/jobs.ts");
const reportJobsFile = () => import("./jobs/reportJobs.ts");
const gatesFile = () => import("./runs/gates.ts");
const requestsFile = () => import("./hooks/requests.ts");
const sendHookFile = () => import("./hooks/sendHook.ts");
const runsFile = () => import("./runs/runs.ts");
const deliveriesFile = () => import("./deliveries/deliveries.ts");
const notifyFile = () => import("./deliveries/notify.ts");
const sessionsFile = () => import("./runs/sessions.ts");
const channelsFile = () => import("./deliveries/channels.ts");
const routeFile = () => import("./deliveries/route.ts");
const configFile = () => import("./service/config.ts");
const gmailFile = () => import("./hooks/gmail.ts");

/** All commands by name, in the order of the help. A command's file is loaded only when it is called, so that `--help` is fast. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  start: leaf(
    "Run all processes on this machine, with an embedded MongoDB and Redis unless these are configured.",
    async () => (await import("./service/start.ts")).start,
  ),
  reload: leaf(
    "Apply a changed configuration file to the instance that `signalbox start` runs on this machine, and wait for the outcome.",
    async () => (await import("./service/reload.ts")).reload,
  ),
  init: leaf(
    "Write a configuration file with new secrets and an explanation of every key.",
    async () => (await import("./service/init.ts")).init,
  ),
  release: leaf(
    "Prepare the configured MongoDB for this version: create missing indexes. Safe to repeat.",
    async () => (await import("./service/release.ts")).release,
  ),
  doctor: leaf(
    "Check the configuration, MongoDB, Redis and the service, and print what to do.",
    async () => (await import("./service/doctor.ts")).doctor,
  ),
  backup: leaf(
    "Write all data to a compressed file. The service can keep running.",
    async () => (await backupFile()).backup,
  ),
  restore: leaf("Restore the data of a backup into an empty database.", async () => (await backupFile()).restore),
  status: leaf(
    "Print whether the service is ready, its jobs, runs and channels. Exits with 1 if it is not ready, and with 3 if it cannot be reached.",
    async () => (await import("./service/status.ts")).status,
  ),
  logs: leaf(
    "Print the last lines of the log of the instance that `signalbox start` runs on this machine.",
    async () => (await import("./service/logs.ts")).logs,
  ),
  open: leaf(
    "Print the address of the dashboard and open it in the browser of this machine.",
    async () => (await import("./service/open.ts")).open,
  ),
  run: leaf(
    "Run a program and report it as a job. Exit code 0 completes the job, any other fails it; the last line of output becomes the message.",
    async () => (await import("./jobs/run/runProgram.ts")).runProgram,
  ),
  jobs: {
    description: "List, read, watch, report, cancel and delete jobs.",
    examples: ["signalbox jobs list --status failed", "signalbox jobs watch report-7"],
    commands: {
      list: leaf("List jobs, newest first.", async () => (await jobsFile()).listJobs),
      get: leaf("Print one job with its input, metadata and output.", async () => (await jobsFile()).getJob),
      watch: leaf(
        "Follow one job until it ends and exit with 1 if it fails, or follow many until Ctrl-C.",
        async () => (await import("./jobs/watchJobs.ts")).watchJobs,
      ),
      put: leaf("Create a job, or change the given fields of one.", async () => (await reportJobsFile()).putJob),
      report: leaf(
        "Report on a step of a job. The first report creates the step and starts it.",
        async () => (await reportJobsFile()).reportStep,
      ),
      cancel: leaf(
        "Request that a running job be cancelled. The code that does the work learns of it with its next report.",
        async () => (await jobsFile()).cancelJob,
      ),
      delete: leaf(
        "Delete the given jobs, or all jobs that match the filters, with their steps.",
        async () => (await import("./jobs/deleteJobs.ts")).deleteJobs,
      ),
    },
  },
  channel: leaf(
    "Send news of jobs to a session of Claude Code that starts this command as an MCP server.",
    async () => (await import("./jobs/channel/channel.ts")).channel,
  ),
  gates: {
    description: "List and answer the questions of jobs to people.",
    examples: ["signalbox gates list", "signalbox gates answer report-7 publish accept"],
    commands: {
      list: leaf(
        "List gates, newest first: the open ones, or those in another status.",
        async () => (await gatesFile()).listGates,
      ),
      answer: leaf(
        "Answer an open gate. The first answer counts. Without --revision, a terminal shows the question and asks first.",
        async () => (await gatesFile()).answerGate,
      ),
    },
  },
  hooks: {
    description: "List, test and send webhooks, and show received requests.",
    examples: [
      "signalbox hooks list",
      "signalbox hooks test ci/build --body body.json",
      "signalbox hooks send wake --text 'The nightly backup failed'",
      "signalbox hooks requests list --outcome refused",
    ],
    commands: {
      list: leaf(
        "List the mappings of the service with their last kept request. Needs a token with the scope admin.",
        async () => (await import("./hooks/listHooks.ts")).listHooks,
      ),
      test: leaf(
        "Apply a mapping and its transform on this machine and print the resulting run. Nothing is sent.",
        async () => (await import("./hooks/testHook.ts")).testHook,
      ),
      requests: {
        description: "List, read and replay the requests to hooks that the service has kept (hooks.keepRequests).",
        examples: ["signalbox hooks requests list --outcome refused"],
        commands: {
          list: leaf("List kept requests, newest first.", async () => (await requestsFile()).listRequests),
          show: leaf(
            "Print a kept request with its headers and its body.",
            async () => (await requestsFile()).showRequest,
          ),
          replay: leaf(
            "Start new runs from a kept request, with the current configuration.",
            async () => (await requestsFile()).replayRequest,
          ),
        },
      },
      send: {
        description: "Send a webhook to a mapping or preset, or use one of the built-in hooks below.",
        load: async () => (await sendHookFile()).sendMapped,
        commands: {
          wake: leaf("Send an event to the main session of the agent.", async () => (await sendHookFile()).sendWake),
          agent: leaf("Start a run of the agent in a separate session.", async () => (await sendHookFile()).sendAgent),
        },
      },
    },
  },
  runs: {
    description: "List, read, watch, retry, repeat and cancel runs of the agent.",
    examples: ["signalbox runs list --status failed"],
    commands: {
      list: leaf("List runs, newest first.", async () => (await runsFile()).listRuns),
      get: leaf("Print one run with its reply and deliveries.", async () => (await runsFile()).getRun),
      watch: leaf(
        "Wait for the end of a run, print its reply, and exit with 1 unless it is completed.",
        async () => (await import("./runs/followRun.ts")).watchRun,
      ),
      retry: leaf("Restart a failed run.", async () => (await runsFile()).actOnRun("retry")),
      again: leaf("Start a new run with the request of a run that has ended.", async () =>
        (await runsFile()).actOnRun("again"),
      ),
      cancel: leaf("Cancel a queued or running run.", async () => (await runsFile()).actOnRun("cancel")),
    },
  },
  deliveries: {
    description: "List, retry and cancel deliveries of replies and events.",
    examples: ["signalbox deliveries list --state failed"],
    commands: {
      list: leaf("List deliveries, newest first.", async () => (await deliveriesFile()).listDeliveries),
      retry: leaf("Restart a failed delivery, or try a pending one now.", async () =>
        (await deliveriesFile()).actOnDelivery("retry"),
      ),
      cancel: leaf("Cancel a pending delivery.", async () => (await deliveriesFile()).actOnDelivery("cancel")),
    },
  },
  notify: {
    description: "List and test the rules that send events.",
    examples: ["signalbox notify list"],
    commands: {
      list: leaf("List rules with their latest event, and expectations.", async () => (await notifyFile()).listRules),
      test: leaf("Send the event `test` to the target of a rule.", async () => (await notifyFile()).testRule),
    },
  },
  sessions: {
    description: "List sessions of the agent and print their messages.",
    examples: ["signalbox sessions messages main --limit 10"],
    commands: {
      list: leaf("List sessions, most recently used first.", async () => (await sessionsFile()).listSessions),
      messages: leaf(
        "Print the latest messages of a session, oldest first.",
        async () => (await sessionsFile()).listMessages,
      ),
    },
  },
  deliver: leaf(
    "Send one message to a channel, and exit with 1 unless its first attempt succeeds.",
    async () => (await channelsFile()).deliverText,
  ),
  channels: {
    description: "Check, test and resume the channels that replies are delivered to.",
    examples: ["signalbox channels check"],
    commands: {
      check: leaf(
        "Check the credentials of each configured channel without sending anything.",
        async () => (await channelsFile()).checkChannels,
      ),
      test: leaf("Send a test message to a channel.", async () => (await channelsFile()).testChannel),
      resume: leaf(
        "Let a channel that is stopped for its credentials try them again at once.",
        async () => (await channelsFile()).resumeChannel,
      ),
    },
  },
  route: {
    description: "Print, set or clear the channel and recipient for replies of the main session.",
    examples: ["signalbox route show"],
    commands: {
      show: leaf(
        "Print the channel and recipient for replies of the main session.",
        async () => (await routeFile()).showRoute,
      ),
      set: leaf(
        "Set the channel and recipient for replies of the main session.",
        async () => (await routeFile()).setRoute,
      ),
      clear: leaf(
        "Clear what was set, so that session.main of the configuration applies again.",
        async () => (await routeFile()).clearRoute,
      ),
    },
  },
  config: {
    description: "Check or print the configuration: the file and the environment together.",
    examples: ["signalbox config check", "signalbox config show"],
    commands: {
      check: leaf("Validate the configuration and list every problem.", async () => (await configFile()).checkConfig),
      show: leaf(
        "Print the configuration in effect as JSON, with secrets redacted.",
        async () => (await configFile()).showConfig,
      ),
      import: leaf(
        "Print a configuration of OpenClaw as one of Signalbox, and note each setting that it leaves out.",
        async () => (await import("./service/importConfig.ts")).importConfig,
      ),
    },
  },
  token: {
    description: "Create tokens with scopes for the API.",
    examples: ["signalbox token new --name ci --scopes jobs:read,jobs:create"],
    commands: {
      new: leaf(
        "Print a new token and the line of the configuration that makes it valid.",
        async () => (await import("./service/newToken.ts")).newToken,
      ),
    },
  },
  webhooks: {
    description: "Set up and run listeners that start runs.",
    examples: ["signalbox webhooks gmail status"],
    commands: {
      gmail: {
        description: "Start a run for each new mail of a Gmail mailbox.",
        examples: ["signalbox webhooks gmail setup --account me@example.com --client client.json"],
        commands: {
          setup: leaf(
            "Set up a Gmail mailbox and write hooks.gmail. Safe to repeat.",
            async () => (await import("./hooks/gmailSetup.ts")).setupGmail,
          ),
          run: leaf(
            "Listen to the mailbox in hooks.gmail and start a run for each new mail.",
            async () => (await gmailFile()).runGmail,
          ),
          status: leaf(
            "Print the state of the listener and exit with 1 if there is a problem.",
            async () => (await gmailFile()).gmailStatus,
          ),
        },
      },
    },
  },
  completion: leaf(
    "Print the shell completion script.",
    async () => (await import("./service/completion.ts")).completion,
  ),
};
