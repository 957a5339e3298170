import type { TurnEvent } from "../../agents/runners/runner.ts";
import type { TurnUsage } from "../../agents/runners/turnUsage.ts";
import type { Agents } from "../../config/agents/agents.ts";
import type { AgentRun } from "../../models/runs/run.ts";
import { trackTool } from "../../models/runs/trackRun.ts";
import { viewUsage } from "../../models/runs/usage/usage.ts";
import type { Stores } from "../../models/stores.ts";
import { type RunEventsDeps, RunEventWriter } from "../../shared/queue/runEvents.ts";
import type { RunEvents } from "../../wire/runs/runEvent.ts";

interface RunProgressDeps {
  readonly stores: Stores;
  readonly runEvents: RunEventsDeps;
  readonly showTools: Agents["showTools"];
}

/** Minimum interval between two messages of the job that shows a run. */
const REPORT_EVERY_MS = 1_000;

/** Shows what an attempt does while it runs: as events of the run, and its newest tool as the message of its job. */
export class RunProgress {
  readonly #deps: RunProgressDeps;
  readonly #run: AgentRun;
  readonly #writer: RunEventWriter;
  #reporting: Promise<void> | undefined;
  /** The tool that is reported next; null if it is reported already. */
  #newestTool: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RunProgressDeps, run: AgentRun) {
    this.#deps = deps;
    this.#run = run;
    this.#writer = new RunEventWriter(deps.runEvents, run._id, run.request.timeoutSeconds * 1_000);
    this.#add("run.started", { attempt: run.attempts });
  }

  readonly onEvent = (event: TurnEvent): void => {
    const { showTools } = this.#deps;
    if (event.type === "message.delta") this.#writer.addText(event.type, "delta", event.delta);
    else if (event.type === "log") this.#writer.addText(event.type, "text", event.text);
    else if (event.type === "usage") this.onUsage(event.usage);
    else if (showTools === "off") return;
    else if (event.type === "tool.started") {
      const { tool, preview } = event;
      this.#add(event.type, { tool, preview: showTools === "previews" ? preview : null });
      this.#newestTool = tool;
      if (!this.#timer) this.#report();
    } else this.#add(event.type, { tool: event.tool, ms: event.ms, error: event.error });
  };

  onUsage(usage: TurnUsage): void {
    const shown = viewUsage(usage);
    if (shown) this.#add("usage", shown);
  }

  /** Writes the last events, and waits for a report that is being written: the end of the run must come after it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#newestTool = null;
    await Promise.all([this.#writer.close(), this.#reporting]);
  }

  #add<Event extends keyof RunEvents>(event: Event, data: RunEvents[Event]): void {
    this.#writer.add(event, data);
  }

  /** Reports the newest tool, and after the interval the next one. A report that fails is left out. */
  #report(): void {
    this.#timer = undefined;
    const tool = this.#newestTool;
    if (tool === null) return;
    this.#newestTool = null;
    this.#reporting = trackTool(this.#deps.stores, this.#run, tool).catch(() => {});
    this.#timer = setTimeout(() => void this.#reporting?.then(() => this.#report()), REPORT_EVERY_MS);
  }
}
