import type { MarkdownRenderer } from "vitepress";

/** Keeps `{{…}}` in the text of a page as it is; VitePress would evaluate it as an expression. */
export function plainText(md: MarkdownRenderer): void {
  const renderText = md.renderer.rules.text;
  md.renderer.rules.text = (...args) => (renderText?.(...args) ?? "").replaceAll("{{", "&#123;&#123;");
}
