import { useState } from "preact/hooks";
import { showError, showToast } from "../components/toasts.tsx";

/** Does something about what has the id, and says how it went. `isPending` while it is under way. */
export function useMutation(id: string, onEnd = () => {}) {
  const [isPending, setPending] = useState(false);
  const act = async (what: (id: string) => Promise<unknown>, text: string) => {
    setPending(true);
    try {
      await what(id);
      showToast(text);
    } catch (error) {
      showError(error);
    }
    setPending(false);
    onEnd();
  };
  return { isPending, act };
}
