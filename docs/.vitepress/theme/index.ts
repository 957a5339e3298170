import theme from "vitepress/theme-without-fonts"; // The fonts of the system suffice, and the default theme's are 1 MB.
import "./style.css";

export default theme;
