import { writeFileSync } from "node:fs";
import { generatedDocs } from "./docs.ts";

for (const [path, text] of Object.entries(generatedDocs())) {
  writeFileSync(path, text);
  console.log(`wrote ${path}`);
}
