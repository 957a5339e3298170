import { join } from "node:path";
import { defineConfig } from "vite";

/** Where `npm run dev:dashboard` finds the service. */
const SERVICE = "http://127.0.0.1:3000";

export default defineConfig({
  root: join(import.meta.dirname, "..", "src", "dashboard"),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"], // the first with light-dark()
    assetsInlineLimit: 0, // an icon in the document would be one more source for the policy to allow
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": SERVICE, "/session": SERVICE } },
});
