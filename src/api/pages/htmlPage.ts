import { Html, html } from "../../shared/text/html.ts";

interface HtmlPage {
  readonly title: string;
  /** The elements of the head besides the title. */
  readonly head: Html;
  readonly style: string;
  readonly body: Html;
}

/** Returns a whole page with its style inside, which needs no script. */
export const htmlPage = ({ title, head, style, body }: HtmlPage): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<title>${title} · Signalbox</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
