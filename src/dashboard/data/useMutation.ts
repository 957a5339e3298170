import { useState } from "preact/hooks";
import { showError, showToast } from "../components/frame/toasts.tsx";

/** Returns `mutate`, which calls the service for the resource `id` and shows a toast, and whether a call is pending. */
export function useMutation(id: string, onEnd = () => {}) {
  const [isPending, setPending] = useState(false);
  const mutate = async (request: (id: string) => Promise<unknown>, text: string) => {
    setPending(true);
    try {
      await request(id);
      showToast(text);
    } catch (error) {
      showError(error);
    }
    setPending(false);
    onEnd();
  };
  return { isPending, mutate };
}
