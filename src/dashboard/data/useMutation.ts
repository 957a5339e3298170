import { useState } from "preact/hooks";
import { showError, showToast } from "../components/toasts.tsx";

/** Does something about what has the id, and says how it went. `isBusy` while it is under way. */
export function useMutation(id: string, onEnd = () => {}) {
  const [isBusy, setBusy] = useState(false);
  const act = async (what: (id: string) => Promise<unknown>, text: string) => {
    setBusy(true);
    try {
      await what(id);
      showToast(text);
    } catch (error) {
      showError(error);
    }
    setBusy(false);
    onEnd();
  };
  return { isBusy, act };
}
