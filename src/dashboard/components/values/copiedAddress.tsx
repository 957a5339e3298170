import { copyText } from "../../copy.ts";
import { IconButton } from "../buttons.tsx";

/** Returns an address that a service without a public URL gives as a path. */
const fullUrl = (url: string): string => (url.startsWith("/") ? location.origin + url : url);

/** The address of a hook, with a button that copies it. */
export function CopiedAddress({ hook, url }: { hook: string; url: string }) {
  return (
    <span class="copied-text">
      <code class="cut">{fullUrl(url)}</code>
      <IconButton
        label={`Copy the address of ${hook}`}
        title="Copy the address"
        icon="copy"
        onClick={() => copyText(fullUrl(url), "Address")}
      />
    </span>
  );
}
