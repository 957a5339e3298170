import MarkdownIt from "markdown-it";
import { Html } from "../../shared/text/html.ts";

const markdown = new MarkdownIt({ html: false });

/** Returns a description of the OpenAPI document, which is Markdown, as HTML. */
export const described = (text: string | undefined): Html => new Html(text === undefined ? "" : markdown.render(text));
