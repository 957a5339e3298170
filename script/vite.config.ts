import { join } from "node:path";
import { defineConfig } from "vite";

/** The service's URL for `npm run dev:dashboard`. */
const SERVICE = "http://127.0.0.1:3000";

export default defineConfig({
  root: join(import.meta.dirname, "..", "src", "dashboard"),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"], // The first versions with light-dark().
    assetsInlineLimit: 0, // The policy would have to allow inline icons.
    modulePreload: false,
    // The client loads parts of itself on demand, which are too small for requests of their own. Markdown is loaded when needed.
    rolldownOptions: {
      checks: { ineffectiveDynamicImport: false },
      output: {
        codeSplitting: {
          groups: [{ name: "index", test: /^(?!.*(?:markdown|linkify|mdurl|entities|uc\.micro|punycode))/ }],
        },
      },
    },
  },
  server: { proxy: { "/api": SERVICE, "/session": SERVICE } },
});
