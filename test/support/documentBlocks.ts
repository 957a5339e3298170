import { readFileSync } from "node:fs";

/** A fenced code block of a Markdown file. */
export interface DocumentBlock {
  /** The first word after the fence, empty without one. */
  readonly language: string;
  /** The further words after the fence, such as `no-run`. */
  readonly info: readonly string[];
  readonly code: string;
  /** The line of the fence. */
  readonly line: number;
}

/** Returns the fenced code blocks of a Markdown file, without the indentation of their fence. */
export function documentBlocks(path: string): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let open: { fence: string; indent: string; lines: string[]; block: Omit<DocumentBlock, "code"> } | undefined;
  for (const [i, line] of readFileSync(path, "utf8").split("\n").entries()) {
    const [, indent = "", fence = "", words = ""] = /^( *)(`{3,})(.*)$/.exec(line) ?? [];
    if (open) {
      if (fence === open.fence && words === "") {
        blocks.push({ ...open.block, code: `${open.lines.join("\n")}\n` });
        open = undefined;
      } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    } else if (fence) {
      const [language = "", ...info] = words.trim().split(/\s+/);
      open = { fence, indent, lines: [], block: { language, info, line: i + 1 } };
    }
  }
  if (open) throw new Error(`${path}:${open.block.line}: the block has no end`);
  return blocks;
}
