import { createRunner } from "../../agents/runners/createRunner.ts";
import type { AgentRunner } from "../../agents/runners/runner.ts";
import { resolveModel } from "../../config/agents/agent.ts";
import { type AgentSettings, type Agents, agentFault, agentSettings, programOf } from "../../config/agents/agents.ts";
import { AppError } from "../../shared/errors.ts";

/** An agent that runs turns. */
export interface Agent {
  readonly runner: AgentRunner;
  /** Its model is for a turn that names none: no default was configured when the run was accepted. */
  readonly settings: AgentSettings;
}

/** The agents of a configuration, each with the runner of its turns. */
export class AgentTable {
  /** The agent of `agents.defaults`, which has the main session. */
  readonly main: Agent;
  readonly #agents: Agents;
  readonly #named: ReadonlyMap<string, Agent>;

  /** @param programGraceMs time between SIGTERM and SIGKILL for programs @throws AppError agent_failed */
  constructor(agents: Agents, environment: Readonly<Record<string, string | undefined>>, programGraceMs: number) {
    const open = (agentId: string | null): Agent => {
      const settings = agentSettings(agents, agentId) ?? agents.defaults;
      const runners = { openai: agents.runners.openai, command: programOf(agents, settings) };
      const resolved = resolveModel(settings, undefined); // succeeds, because the configuration was checked
      const model = resolved.ok && resolved.model !== undefined && { model: resolved.model };
      const runner = createRunner(settings.runner, runners, environment, programGraceMs);
      return { runner, settings: { ...settings, ...model } };
    };
    this.#agents = agents;
    this.main = open(null);
    this.#named = new Map(Object.keys(agents.list).map((id) => [id, open(id)]));
  }

  /** Returns the agent of a run. @throws AppError agent_failed if the configuration no longer has it */
  of(agentId: string | undefined): Agent {
    const agent = agentId === undefined ? this.main : this.#named.get(agentId);
    if (agent) return agent;
    throw new AppError("agent_failed", {
      detail: `The agent of the run, ${agentId}, ${agentFault(this.#agents, agentId)}. Add it again and retry the run.`,
    });
  }
}

/** Returns the name of the runner for people, with the address of its model server. */
export function runnerName({ defaults: { runner }, runners }: Agents): string {
  const address = runner === "openai" && runners.openai?.baseUrl;
  return address ? `the model server at ${address}` : `the runner ${runner}`;
}
