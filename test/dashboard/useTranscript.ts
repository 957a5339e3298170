import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../../src/agents/prompt/heartbeatPrompt.ts";
import { useDashboard } from "./useDashboard.ts";

/** The id of the run that the events and turns name. */
export const RUN = "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34";

/** Opens pages of a service to whose sessions turns can be added. */
export function useTranscript() {
  const { app, openLive } = useDashboard();

  const addTurn = (n: number, sessionKey = "main") => {
    const events = [
      { eventId: "e", text: `Event number ${n}`, source: `run ${RUN}`, at: app.clock.now() },
      { eventId: "f", text: "Line one\nLine two", source: "wake hook", at: app.clock.now() },
    ];
    const { text } = heartbeatPrompt({ prompt: DEFAULT_HEARTBEAT_PROMPT, events, maxChars: 100_000 });
    const prompt = sessionKey === "main" ? text : `Question ${n}`;
    const turn = { sessionKey, prompt, outside: false, reply: `Reply number ${n}`, endedAt: app.clock.now() };
    const turnId = sessionKey === "main" ? `turn-${n}` : `${RUN}-${n}`;
    return app.stores.messages.addTurn(turnId, turn);
  };
  const addTurns = async (count: number) => {
    for (let n = 1; n <= count; n++) await addTurn(n);
  };
  return { app, openLive, addTurn, addTurns };
}
