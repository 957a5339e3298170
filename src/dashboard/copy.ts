import { showToast } from "./components/frame/toasts.tsx";

/** Copies a text to the clipboard and shows a toast. */
export async function copyText(text: string, what: string): Promise<void> {
  const isDone = (await copyWithClipboardApi(text)) || copyBySelection(text);
  if (isDone) showToast(`${what} copied`);
  else showToast("The browser blocked copying. Download the text instead.", { isError: true });
}

/** Browsers provide the clipboard API only to pages from https or localhost. */
const copyWithClipboardApi = (text: string): Promise<boolean> =>
  navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  ) ?? Promise.resolve(false);

/**
 * Copies a selected text area. It is inside the open dialog, if any, because nothing outside a dialog can be selected.
 */
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

/** Downloads a text as a file. */
export function downloadText(text: string, file: string, isJson: boolean): void {
  const type = isJson ? "application/json" : "text/plain;charset=utf-8";
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = file.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // The browser reads the blob asynchronously.
}
