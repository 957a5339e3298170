import { withBase } from "vitepress";
import { h } from "vue";

/**
 * A link of the navigation to another page of the service. The theme's own links always stay below the guide's base;
 * the target attribute keeps the guide's router from handling the click.
 */
export const ServiceLink = ({ text, path }: { text: string; path: string }) =>
  h("a", { class: "service-link", href: `${withBase("/")}../${path}`, target: "_self" }, text);

ServiceLink.props = ["text", "path"];
