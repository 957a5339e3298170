import { isObject } from "../../shared/text/json.ts";
import { sanitizeText, stripEscapeSequences } from "../../shared/text/sanitizeText.ts";
import { lineReader } from "./lines.ts";
import { contentText } from "./replyText.ts";
import type { TurnEvent } from "./runner.ts";
import { addUp, programUsage, type TurnUsage } from "./turnUsage.ts";

/** Maximum length of a line. Longer ones are results of tools, of which nothing is needed but that they exist. */
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_NAME_CHARS = 100;
const MAX_PREVIEW_CHARS = 200;
/** Maximum tools whose end is awaited. The end of a forgotten one is reported without a duration. */
const MAX_RUNNING_TOOLS = 100;
/** Maximum messages whose further lines are recognized. */
const MAX_MESSAGES = 100;

/** The items of Codex that stand for a tool. The others are texts, thoughts and lists of plans. */
const CODEX_TOOLS: readonly unknown[] = [
  "command_execution",
  "file_change",
  "mcp_tool_call",
  "collab_tool_call",
  "web_search",
];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads what Claude Code (`--output-format stream-json --verbose`, with or without `--include-partial-messages`) or Codex
 * (`exec --json`) prints while it works, one JSON object a line. Lines and objects of other kinds are passed over.
 * Sources: https://docs.claude.com/en/docs/agent-sdk/typescript (SDKMessage) and
 * https://github.com/openai/codex/blob/main/codex-rs/exec/src/exec_events.rs
 */
export class ProgramEvents {
  /** Takes the next piece of standard output. */
  readonly read = lineReader(MAX_LINE_BYTES, (line) => this.#readLine(line));
  readonly #onEvent: (event: TurnEvent) => void;
  readonly #mask: (text: string) => string;
  readonly #running = new Map<string, { readonly tool: string; readonly startedAt: number }>();
  /** Whether the program prints pieces of messages, so that a whole message has no new text. */
  #hasPieces = false;
  #hasText = false;
  #isRecognized = false;
  /** The usage of the newest messages by id: those of subagents come in between. */
  readonly #messages = new Map<string, TurnUsage>();
  #usage: TurnUsage | undefined;

  /** @param mask removes secrets from a preview */
  constructor(onEvent: (event: TurnEvent) => void, mask: (text: string) => string) {
    this.#onEvent = onEvent;
    this.#mask = mask;
  }

  /** The usage of the messages so far, if they report it. */
  get usage(): TurnUsage | undefined {
    return this.#usage;
  }

  /** Whether a line of one of the programs was read, whose reply is in the last lines. */
  get isRecognized(): boolean {
    return this.#isRecognized;
  }

  #readLine(line: string): void {
    const message = parse(line);
    const { type, event, item } = message;
    // The words of a subagent are not those of the reply.
    const isOwn = message.parent_tool_use_id === null || message.parent_tool_use_id === undefined;
    if (typeof type !== "string") return;
    if (/^(?:system|assistant|thread\.started|turn\.started)$/.test(type)) this.#isRecognized = true;
    if (type === "stream_event" && isObject(event) && isOwn) this.#readPiece(event);
    if (type === "assistant") {
      this.#readBlocks(message.message, isOwn && !this.#hasPieces);
      this.#readUsage(message.message);
    }
    if (type === "user") this.#readBlocks(message.message, false);
    if (type.startsWith("item.") && isObject(item)) this.#readItem(type, item);
  }

  /** Reads an event of Anthropic's streaming API. */
  #readPiece({ type, content_block, delta }: Fields): void {
    this.#hasPieces = true;
    if (type === "content_block_start" && isObject(content_block) && content_block.type === "text")
      this.#startParagraph();
    if (type === "content_block_delta" && isObject(delta) && delta.type === "text_delta") this.#addText(delta.text);
  }

  /** Reads the content of a message of Claude Code. */
  #readBlocks(message: unknown, withText: boolean): void {
    const content = isObject(message) && Array.isArray(message.content) ? message.content.filter(isObject) : [];
    for (const block of content) {
      if (block.type === "tool_use") this.#start(block.id, block.name, block.input);
      if (block.type === "tool_result") this.#complete(block.tool_use_id, undefined, block.is_error === true);
      if (block.type !== "text" || !withText) continue;
      this.#startParagraph();
      this.#addText(contentText(block));
    }
  }

  #readItem(event: string, item: Fields): void {
    const { id, type, status, error, server, tool } = item;
    if (type === "agent_message" && event === "item.completed") {
      this.#startParagraph();
      this.#addText(item.text);
    }
    if (!CODEX_TOOLS.includes(type)) return;
    const name = type === "mcp_tool_call" ? `${server}.${tool}` : type;
    const input = item.command ?? item.query ?? item.arguments ?? item.changes;
    if (event === "item.started" || !this.#running.has(String(id))) this.#start(id, name, input);
    if (event !== "item.completed") return;
    const failed = status === "failed" || status === "declined" || (error !== null && error !== undefined);
    this.#complete(id, name, failed);
  }

  /** Adds the usage of a message of Claude Code. Its lines, one for each block, repeat it: the last one counts. */
  #readUsage(message: unknown): void {
    const usage = isObject(message) ? programUsage({ usage: message.usage }) : undefined;
    if (!isObject(message) || !usage) return;
    const id = String(message.id);
    const more = addUp(usage, this.#messages.get(id), -1);
    if (this.#messages.size >= MAX_MESSAGES) this.#messages.delete(this.#messages.keys().next().value ?? "");
    this.#messages.set(id, usage);
    this.#usage = addUp(this.#usage, more);
    this.#onEvent({ type: "usage", usage: this.#usage });
  }

  #startParagraph(): void {
    if (this.#hasText) this.#onEvent({ type: "message.delta", delta: "\n\n" });
  }

  #addText(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#hasText = true;
    this.#onEvent({ type: "message.delta", delta: stripEscapeSequences(text) });
  }

  #start(id: unknown, name: unknown, input: unknown): void {
    const tool = toolName(name);
    if (this.#running.size >= MAX_RUNNING_TOOLS) this.#running.delete(this.#running.keys().next().value ?? "");
    this.#running.set(String(id), { tool, startedAt: performance.now() });
    const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
    // Masked before it is cut: a part of a secret is not recognized.
    const preview = this.#mask(oneLine(text)).slice(0, MAX_PREVIEW_CHARS).toWellFormed();
    this.#onEvent({ type: "tool.started", tool, preview });
  }

  #complete(id: unknown, name: unknown, error: boolean): void {
    const started = this.#running.get(String(id));
    if (!started && name === undefined) return; // the line of its start was not read, so that its name is not known
    this.#running.delete(String(id));
    const ms = started ? Math.round(performance.now() - started.startedAt) : null;
    this.#onEvent({ type: "tool.completed", tool: started?.tool ?? toolName(name), ms, error });
  }
}

const oneLine = (text: string): string => sanitizeText(text).replace(/\s+/g, " ").trim();

const toolName = (name: unknown): string => oneLine(String(name)).slice(0, MAX_NAME_CHARS).toWellFormed();

function parse(line: string): Fields {
  const text = stripEscapeSequences(line);
  if (!/^\s*\{/.test(text)) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
