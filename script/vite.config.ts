import { join } from "node:path";
import { defineConfig } from "vite";

/** The service's URL for `npm run dev:dashboard`. */
const SERVICE = "http://127.0.0.1:3000";

const ROOT = join(import.meta.dirname, "..", "src", "dashboard");

export default defineConfig({
  root: ROOT,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"], // The first versions with light-dark().
    assetsInlineLimit: 0, // The policy would have to allow inline icons.
    modulePreload: false,
    // The parts that the client loads on demand are too small for requests of their own. Markdown is loaded when needed.
    // The guide shares the dashboard's style sheet and has a script of its own.
    rolldownOptions: {
      input: ["index.html", "guide.html"].map((page) => join(ROOT, page)),
      checks: { ineffectiveDynamicImport: false },
      output: {
        codeSplitting: {
          groups: [
            { name: "main", test: /main\.css$/, priority: 1 },
            { name: "index", test: /^(?!.*(?:\/guide\.|markdown|linkify|mdurl|entities|uc\.micro|punycode))/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": SERVICE, "/session": SERVICE } },
});
