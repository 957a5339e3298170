import type { MarkdownRenderer } from "vitepress";

/** Keeps `{{…}}` in text and inline code as it is; VitePress would evaluate it as an expression. */
export function plainText(md: MarkdownRenderer): void {
  for (const rule of ["text", "code_inline"] as const) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => (render?.(...args) ?? "").replaceAll("{{", "&#123;&#123;");
  }
}
