import type { TextlintRuleModule } from "@textlint/types";
import { SentenceSplitterSyntax, splitAST } from "sentence-splitter";
import { faultsOf } from "./faults.ts";

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

/** A rule of textlint: checks each sentence of paragraphs, list items and table cells. */
export const sentences: TextlintRuleModule = ({ Syntax, RuleError, report }) => {
  const check = (node: Parameters<typeof splitAST>[0], separator?: string) => {
    for (const sentence of splitAST(node).children) {
      if (sentence.type !== SentenceSplitterSyntax.Sentence) continue;
      const text = proseOf(sentence as Node)
        .replace(/\s+/g, " ")
        .trim();
      for (const part of separator ? text.split(separator) : [text]) {
        for (const fault of faultsOf(part.trim()))
          report(node as never, new RuleError(`${fault}: ${part.slice(0, 100)}`));
      }
    }
  };
  return {
    [Syntax.Paragraph]: (node) => check(node as never),
    // a cell often is a list, whose items end with a semicolon
    [Syntax.TableCell]: (node) => check({ ...node, type: "Paragraph" } as never, ";"),
  };
};

/** Returns the text of a node as a reader sees it, with a placeholder for each piece of code. */
function proseOf({ type, value, children }: Node): string {
  if (type === "Code") return "code";
  if (type === "Html" || type === "Image") return "";
  if (type === "Break") return " ";
  return children ? children.map(proseOf).join("") : (value ?? "");
}
