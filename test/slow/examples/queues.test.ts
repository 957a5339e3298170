import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { Queue, QueueEvents } from "bullmq";
import { expect } from "chai";
import { redisUrl } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

const TOKEN = "an-api-token-of-length";
const AUTH = { Authorization: `Bearer ${TOKEN}` };

/** A stand-in for Celery that calls the same signals, and runs a task at once. */
const CELERY = `
import sys, types

class Signal:
    def connect(self, receiver):
        self.receiver = receiver
        return receiver

signals = types.SimpleNamespace(task_prerun=Signal(), task_success=Signal(), task_failure=Signal())

class Celery:
    def __init__(self, name, broker): pass
    def task(self, bind):
        def decorate(function):
            task = types.SimpleNamespace(name="tasks." + function.__name__, request=types.SimpleNamespace(id=None))
            def run(task_id, *args):
                task.request.id = task_id
                signals.task_prerun.receiver(signal="task_prerun", sender=task, task_id=task_id, task=task, args=args)
                try:
                    result = function(task, *args)
                except Exception as error:
                    signals.task_failure.receiver(signal="task_failure", sender=task, task_id=task_id, exception=error)
                else:
                    signals.task_success.receiver(signal="task_success", sender=task, result=result)
            task.run = run
            return task
        return decorate

module = types.ModuleType("celery")
module.Celery, module.signals = Celery, signals
sys.modules["celery"] = module
sys.path.insert(0, "examples/celery")
import tasks
tasks.resize.run("task-good", ["a.png", "b.png"])
tasks.resize.run("task-bad", None)
`;

describe("the examples with a queue", () => {
  const app = useSharedApp({ apiToken: TOKEN });

  const job = async (id: string) => (await app.call("GET", `/api/jobs/${id}?include=steps`, undefined, AUTH)).body;
  const variables = () => ({ ...process.env, no_proxy: "*", SIGNALBOX_URL: app.url, SIGNALBOX_API_TOKEN: TOKEN });

  it("celery/tasks.py reports each task, and a task runs while the service is unavailable", async () => {
    const run = async (env: NodeJS.ProcessEnv) => {
      const child = spawn("python3", ["-B", "-c", CELERY], { env, stdio: ["ignore", "ignore", "pipe"] });
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      return { code, stderr };
    };
    const reported = await run(variables());
    const away = await run({ ...variables(), SIGNALBOX_URL: "http://127.0.0.1:9" });

    expect(reported).to.deep.equal({ code: 0, stderr: "" });
    expect([away.code, away.stderr.split("The report to Signalbox failed").length > 4]).to.deep.equal([0, true]);
    const [good, bad] = [await job("task-good"), await job("task-bad")];
    expect([good.status, good.output]).to.deep.equal(["completed", { message: "2 images" }]);
    expect([bad.status, bad.message]).to.deep.equal(["failed", "'NoneType' object is not iterable"]);
  });

  it("bullmq/main.ts reports each job, and fails one with its last attempt", async () => {
    const url = await redisUrl();
    const queue = new Queue("images", { connection: { url } });
    const events = new QueueEvents("images", { connection: { url } });
    await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
    const worker = spawn(process.execPath, ["examples/bullmq/main.ts"], {
      env: { ...variables(), REDIS_URL: url },
      stdio: ["ignore", "inherit", "inherit"],
    });
    try {
      const good = await queue.add("Holiday", { images: ["a.png", "b.png"] }, { jobId: "good" });
      const bad = await queue.add("Letters", { images: ["a.png", "b.txt"] }, { jobId: "bad", attempts: 2 });
      expect(await good.waitUntilFinished(events)).to.deep.equal({ images: 2 });
      const failure = await bad.waitUntilFinished(events).catch((error: Error) => error.message);
      expect(failure).to.equal("b.txt is not a PNG file.");

      expect(await job("images-good")).to.deep.include({ name: "Holiday", status: "completed", output: { images: 2 } });
      const failed = await job("images-bad");
      expect([failed.status, failed.message, failed.steps[0].attempts]).to.deep.equal(["failed", failure, 2]);
    } finally {
      worker.kill("SIGTERM");
      const [code] = await once(worker, "exit");
      await queue.obliterate({ force: true });
      await Promise.all([queue.close(), events.close()]);
      expect(code).to.equal(0);
    }
  });
});
