import { defineConfig } from "vitepress";
import { githubSlug } from "./githubSlug.ts";
import { plainText } from "./plainText.ts";
import { repositoryLinks } from "./repositoryLinks.ts";
import { GROUPS } from "./sidebar.ts";

/** The guide: docs/ as static pages with search, which `npm run build:guide` builds and the service serves at /guide. */
export default defineConfig({
  title: "Signalbox",
  description: "Job tracking and a webhook gateway for code and agents that run for a long time",
  lang: "en",
  base: "/guide/",
  cleanUrls: true,
  appearance: { disableTransition: false }, // It would add a style element, which the policy forbids.
  cacheDir: "node_modules/.cache/vitepress",
  ignoreDeadLinks: true, // test/docs.test.ts checks them; a start does not fail because of one.
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/guide/icon.svg" }]],
  markdown: {
    anchor: { slugify: githubSlug },
    config(md) {
      repositoryLinks(md);
      plainText(md);
    },
  },
  themeConfig: {
    logo: "/icon.svg",
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: Object.entries(GROUPS).map(([text, pages]) => ({
      text,
      items: pages.map(([page, title]) => ({ text: title, link: `/${page}` })),
    })),
    nav: [
      { text: "Guide", link: "/", activeMatch: "^/(?!reference/)" },
      { text: "Reference", link: "/reference/configuration", activeMatch: "^/reference/" },
      { component: "ServiceLink", props: { text: "API", path: "docs" } },
      { component: "ServiceLink", props: { text: "Dashboard", path: "" } },
    ],
  },
});
