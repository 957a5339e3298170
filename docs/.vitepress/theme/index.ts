import type { Theme } from "vitepress";
import theme from "vitepress/theme-without-fonts"; // The fonts of the system suffice, and the default theme's are 1 MB.
import { ServiceLink } from "./serviceLink.ts";
import "./style.css";

export default {
  extends: theme,
  enhanceApp({ app }) {
    app.component("ServiceLink", ServiceLink);
  },
} satisfies Theme;
