import { showToast } from "./components/toasts.tsx";

/** Puts a text on the clipboard, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  const isDone = (await copyWithClipboardApi(text)) || copyBySelection(text);
  if (isDone) showToast(`${what} copied`);
  else showToast("The browser lets nothing be copied here: download it instead.", { isError: true });
}

/** Browsers give the clipboard to pages over https and from this machine only. */
const copyWithClipboardApi = (text: string): Promise<boolean> =>
  navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  ) ?? Promise.resolve(false);

/** Where a dialog is open, nothing outside it can be selected. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    focused?.focus();
  }
}

/** Hands a text to the browser as a file. */
export function downloadText(text: string, file: string, isJson: boolean): void {
  const type = isJson ? "application/json" : "text/plain;charset=utf-8";
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = file.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it in its own time
}
