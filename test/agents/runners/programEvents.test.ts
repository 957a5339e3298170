import { expect } from "chai";
import { ProgramEvents } from "../../../src/agents/runners/programEvents.ts";
import type { TurnEvent } from "../../../src/agents/runners/runner.ts";

const lines = (...messages: (object | string)[]) =>
  Buffer.from(messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));

/** Reads the output in pieces of this size. Durations become 0, and pieces of text one. */
function read(output: Buffer, size = output.length) {
  const events: TurnEvent[] = [];
  const program = new ProgramEvents(
    (event) => {
      const last = events.at(-1);
      if (event.type === "message.delta" && last?.type === "message.delta")
        events[events.length - 1] = { ...last, delta: last.delta + event.delta };
      else events.push(event.type === "tool.completed" && event.ms !== null ? { ...event, ms: 0 } : event);
    },
    (text) => text.replaceAll("hunter22", "…"),
  );
  for (let start = 0; start < output.length; start += size) program.read(output.subarray(start, start + size));
  return { events, isRecognized: program.isRecognized };
}

const assistant = (...content: object[]) => ({
  type: "assistant",
  message: { id: "msg_1", role: "assistant", content },
  parent_tool_use_id: null,
});
const result = (id: string, isError = false) => ({
  type: "user",
  message: {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: "x".repeat(50), is_error: isError }],
  },
});
const piece = (event: object) => ({ type: "stream_event", event, parent_tool_use_id: null });
const textPiece = (text: string) =>
  piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });

const CLAUDE = [
  { type: "system", subtype: "init", session_id: "s", model: "m", tools: ["Bash"] },
  assistant({ type: "thinking", thinking: "hm" }, { type: "text", text: "I look – 🚂." }),
  assistant({ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls\n-l", token: "hunter22" } }),
  { type: "rate_limit_event", rate_limit_info: {} },
  result("toolu_1"),
  assistant({ type: "tool_use", id: "toolu_2", name: "mcp__tracker__search", input: {} }),
  result("toolu_2", true),
  assistant({ type: "text", text: "Two files." }),
  { type: "result", subtype: "success", is_error: false, result: "Two files.", total_cost_usd: 0.01 },
];
const CLAUDE_EVENTS = [
  { type: "message.delta", delta: "I look – 🚂." },
  { type: "tool.started", tool: "Bash", preview: '{"command":"ls\\n-l","token":"…"}' },
  { type: "tool.completed", tool: "Bash", ms: 0, error: false },
  { type: "tool.started", tool: "mcp__tracker__search", preview: "{}" },
  { type: "tool.completed", tool: "mcp__tracker__search", ms: 0, error: true },
  { type: "message.delta", delta: "\n\nTwo files." },
];

describe("the usage of Claude Code's messages", () => {
  const message = (id: string, output_tokens: number, parent: string | null = null) => ({
    type: "assistant",
    message: { id, content: [], usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens } },
    parent_tool_use_id: parent,
  });
  const usage = (inputTokens: number, cachedInputTokens: number, outputTokens: number) => ({
    type: "usage",
    usage: { inputTokens, cachedInputTokens, outputTokens },
  });

  it("is added up, each message once, also with those of a subagent in between", () => {
    const output = lines(message("a", 1), message("b", 7, "toolu_1"), message("a", 3), message("c", 2));
    expect(read(output).events).to.deep.equal([
      usage(15, 5, 1),
      usage(30, 10, 8),
      usage(30, 10, 10),
      usage(45, 15, 12),
    ]);
  });

  it("is left out where it is no object with numbers", () => {
    const odd = (usage: unknown) => ({ type: "assistant", message: { id: "a", content: [], usage } });
    expect(read(lines(odd(null), odd("x"), odd({ input_tokens: "1" }), odd({}))).events).to.deep.equal([]);
  });
});

const codexItem = (event: string, item: object) => ({ type: `item.${event}`, item });
const CODEX = [
  "Reading prompt from stdin...",
  { type: "thread.started", thread_id: "t" },
  { type: "turn.started" },
  codexItem("completed", { id: "item_0", type: "reasoning", text: "hm" }),
  codexItem("started", {
    id: "item_1",
    type: "command_execution",
    command: "bash -lc ls",
    aggregated_output: "",
    status: "in_progress",
  }),
  codexItem("updated", {
    id: "item_1",
    type: "command_execution",
    command: "bash -lc ls",
    aggregated_output: "a",
    status: "in_progress",
  }),
  codexItem("completed", {
    id: "item_1",
    type: "command_execution",
    command: "bash -lc ls",
    exit_code: 2,
    status: "failed",
  }),
  codexItem("started", { id: "item_2", type: "mcp_tool_call", server: "docs", tool: "search", arguments: { q: "é" } }),
  codexItem("completed", {
    id: "item_2",
    type: "mcp_tool_call",
    server: "docs",
    tool: "search",
    status: "completed",
    error: null,
  }),
  codexItem("completed", {
    id: "item_3",
    type: "file_change",
    changes: [{ path: "a.txt", kind: "add" }],
    status: "completed",
  }),
  codexItem("completed", { id: "item_4", type: "todo_list", items: [] }),
  codexItem("completed", { id: "item_5", type: "agent_message", text: "Done – 🚂." }),
  { type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 2 } },
];
const CODEX_EVENTS = [
  { type: "tool.started", tool: "command_execution", preview: "bash -lc ls" },
  { type: "tool.completed", tool: "command_execution", ms: 0, error: true },
  { type: "tool.started", tool: "docs.search", preview: '{"q":"é"}' },
  { type: "tool.completed", tool: "docs.search", ms: 0, error: false },
  { type: "tool.started", tool: "file_change", preview: '[{"path":"a.txt","kind":"add"}]' },
  { type: "tool.completed", tool: "file_change", ms: 0, error: false },
  { type: "message.delta", delta: "Done – 🚂." },
];

describe("ProgramEvents", () => {
  for (const [program, output, events] of [
    ["Claude Code", lines(...CLAUDE), CLAUDE_EVENTS],
    ["Codex", lines(...CODEX), CODEX_EVENTS],
  ] as const) {
    it(`reads the texts and tools of ${program} from output that is cut at any byte`, () => {
      expect(read(output).events).to.deep.equal(events);
      for (let at = 1; at < output.length; at++) {
        const cut: TurnEvent[] = [];
        const reader = new ProgramEvents(
          (event) => cut.push(event),
          (text) => text,
        );
        reader.read(output.subarray(0, at));
        reader.read(output.subarray(at));
        expect(cut.filter(({ type }) => type === "tool.completed")).to.have.length(program === "Codex" ? 3 : 2);
      }
      for (const size of [1, 2, 3, 7, 64]) expect(read(output, size).events, `pieces of ${size}`).to.deep.equal(events);
    });
  }

  it("takes the text of partial messages once, and not that of a subagent", () => {
    const output = lines(
      CLAUDE[0] as object,
      piece({ type: "message_start", message: {} }),
      piece({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      textPiece("I "),
      { ...textPiece("a subagent's words"), parent_tool_use_id: "toolu_9" },
      textPiece("look."),
      assistant({ type: "text", text: "I look." }),
      { ...assistant({ type: "text", text: "a subagent's words" }), parent_tool_use_id: "toolu_9" },
      piece({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      textPiece("Done."),
      assistant({ type: "text", text: "Done." }),
    );

    expect(read(output).events).to.deep.equal([{ type: "message.delta", delta: "I look.\n\nDone." }]);
  });

  it("passes over unknown, broken and huge lines, and reads those after them", () => {
    const output = lines(
      "no JSON",
      "{broken",
      "[1, 2]",
      "null",
      { type: 7 },
      { type: "assistant", message: { content: "text" } },
      { type: "assistant", message: null },
      { type: "user", message: { content: [null, 3, { type: "tool_result" }] } },
      { type: "item.completed", item: { type: "agent_message", text: 3 } },
      { type: "item.started", item: { type: "new_tool" } },
      { type: "item.started", item: null },
      { type: "stream_event", event: { type: "content_block_delta", delta: null } },
      { type: "stream_event", event: 3 },
      result("x".repeat(1024 * 1024)),
      codexItem("started", { id: "1", type: "web_search", query: "q" }),
    );

    expect(read(output, 4_096).events).to.deep.equal([{ type: "tool.started", tool: "web_search", preview: "q" }]);
  });

  it("bounds the names and previews of tools, and the number of those whose end it awaits", () => {
    const start = (i: number) =>
      assistant({ type: "tool_use", id: `t${i}`, name: `\u001b[31m${"n".repeat(500)}`, input: "p🚂".repeat(5_000) });
    const many = Array.from({ length: 150 }, (_, i) => start(i));

    const { events } = read(lines(...many, result("t0"), result("t149")));

    expect(events[0]).to.deep.equal({
      type: "tool.started",
      tool: "n".repeat(100),
      preview: `${"p🚂".repeat(67).slice(0, 199)}\ufffd`,
    });
    expect(events.filter(({ type }) => type === "tool.completed")).to.have.length(1);
  });

  it("recognizes both programs, and no other", () => {
    expect(read(lines(...CLAUDE)).isRecognized).to.equal(true);
    expect(read(lines(...CODEX)).isRecognized).to.equal(true);
    expect(read(lines({ result: "a" }, { type: "result" })).isRecognized).to.equal(false);
  });
});
