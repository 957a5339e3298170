/** Returns a page without style and scripts that says why another page cannot be shown. @param html the text below its heading */
export const noticePage = (title: string, html: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
</head>
<body>
<h1>${title}</h1>
${html}
</body>
</html>
`;
