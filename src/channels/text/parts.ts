import type { Part, TextStyle } from "./style.ts";
export function toParts(markdown: string, _style: TextStyle): Part[] {
  return [{ text: markdown, plain: markdown }];
}
