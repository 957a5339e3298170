import { expect } from "chai";
import { renderMarkdown } from "../../src/dashboard/markdown.ts";

/** Returns the opening tags of the HTML, without their attributes. */
const tagsIn = (html: string): Set<string> => new Set([...html.matchAll(/<([a-z]\w*)/g)].map(([, tag = ""]) => tag));

describe("Markdown in the dashboard", () => {
  it("renders formatting, lists, tables and links to http and https", () => {
    const text =
      "# Done\n\n- **3** rows, see [the run](https://example.com/a?b=1)\n- http://127.0.0.1:3000/x\n\n|a|b|\n|:-|-:|\n|1|2|";

    const html = renderMarkdown(text);

    expect([...tagsIn(html)].toSorted()).to.deep.equal([
      "a",
      "li",
      "p",
      "strong",
      "table",
      "tbody",
      "td",
      "th",
      "thead",
      "tr",
      "ul",
    ]);
    expect(html).to.include('<a href="https://example.com/a?b=1" rel="noopener nofollow" target="_blank">the run</a>');
    expect(html).to.include('href="http://127.0.0.1:3000/x"');
    expect(html).not.to.include("style=");
  });

  for (const hostile of [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox)",
    "[x](//evil.example)",
    "[x](/api/jobs)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[![x](javascript:alert(1))](javascript:alert(2))",
    "[x]: javascript:alert(1)\n\n[x]",
    "javascript:alert(1)",
    "mailto:a@example.com and ftp://example.com and www.example.com",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onmouseover=alert(1)>b</b> <iframe srcdoc='<script>'></iframe>",
    "> - <style>*{display:none}</style>\n> - <svg/onload=alert(1)>",
    "```<script>\n</code><script>alert(1)</script>\n```",
    '[x](https://example.com/"onclick="alert(1))',
    '![" onerror="alert(1)](https://example.com/a.png "t\\" onload=\\"x")',
    "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
  ]) {
    it(`renders nothing that acts or loads for ${JSON.stringify(hostile)}`, () => {
      const html = renderMarkdown(hostile);

      for (const tag of tagsIn(html))
        expect(tag).to.be.oneOf([
          "p",
          "a",
          "pre",
          "code",
          "blockquote",
          "ul",
          "li",
          "table",
          "thead",
          "tbody",
          "tr",
          "th",
          "td",
        ]);
      for (const [, attributes = ""] of html.matchAll(/<[a-z]\w*((?:\s+[\w-]+="[^"<>]*")*)\s*>/g)) {
        for (const [, name = "", value = ""] of attributes.matchAll(/([\w-]+)="([^"]*)"/g)) {
          expect(name).to.be.oneOf(["href", "rel", "target", "class", "title"]);
          if (name === "href") expect(value).to.match(/^https?:\/\/[\w.-]+/);
        }
      }
      // Every "<" of the result begins a tag that the pattern above has read whole.
      expect(html.replace(/<\/?[a-z]\w*(?:\s+[\w-]+="[^"<>]*")*\s*>/g, "")).not.to.include("<");
    });
  }

  it("renders a picture as a link", () => {
    expect(renderMarkdown("![A chart](https://example.com/a.png)")).to.equal(
      '<p><a href="https://example.com/a.png" rel="noopener nofollow" target="_blank">A chart</a></p>\n',
    );
  });

  it("renders 20,000 characters of nested quotes and lists", () => {
    expect(renderMarkdown("> - ".repeat(5_000)).length).to.be.greaterThan(10_000);
  });
});
