import { defineConfig } from "vitepress";
import { plainText } from "./plainText.ts";
import { repositoryLinks } from "./repositoryLinks.ts";
import { sidebar } from "./sidebar.ts";

/** The guide: docs/ as static pages with search, which `npm run build:guide` builds and the service serves at /guide. */
export default defineConfig({
  title: "Signalbox",
  description: "Job tracking and a webhook gateway for code and agents that run for a long time",
  lang: "en",
  base: "/guide/",
  cleanUrls: true,
  cacheDir: "node_modules/.cache/vitepress",
  // The policy of the served pages forbids inline scripts; buildGuide.mjs moves the remaining ones to files.
  metaChunk: true,
  ignoreDeadLinks: "localhostLinks",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/guide/icon.svg" }]],
  markdown: {
    config(md) {
      repositoryLinks(md);
      plainText(md);
    },
  },
  themeConfig: {
    logo: "/icon.svg",
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: sidebar(),
    // Links that leave the guide: a leading slash would be below its base.
    nav: [
      { text: "Guide", link: "/", activeMatch: "^/(?!reference/)" },
      { text: "Reference", link: "/reference/configuration", activeMatch: "^/reference/" },
      { text: "API", link: "/../docs", target: "_self" },
      { text: "Dashboard", link: "/../", target: "_self" },
    ],
  },
});
