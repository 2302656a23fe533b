import { useSyncExternalStore } from "react";

import { dismissToast, toastStore } from "../lib/toasts";
import { IconButton } from "./parts";

export function Toasts() {
  const toasts = useSyncExternalStore(toastStore.subscribe, toastStore.get);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast ${toast.kind}`}>
          <span>{toast.text}</span>
          <IconButton icon="close" label="Close" onClick={() => dismissToast(toast.id)} />
        </div>
      ))}
    </div>
  );
}
