/** Prints the options of Node for `npm run web` and `npm run worker`. The argument is the number of processes. */
import { heapOptions } from "./heapOptions.ts";

console.log(heapOptions(process.env, Number(process.argv[2]) || 1).join(" "));
