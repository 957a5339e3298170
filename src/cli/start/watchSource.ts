import { watch } from "node:fs";

const DEBOUNCE_MS = 150;

/**
 * Calls `onChange` once for each burst of changes to source files below the directory.
 * @returns a function that stops watching
 */
export function watchSource(directory: string, onChange: (file: string) => void): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, { recursive: true }, (_, file) => {
    if (!file || !/\.([jt]s|json)$/.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(file), DEBOUNCE_MS);
  });
  return async () => {
    clearTimeout(timer);
    watcher.close();
  };
}
