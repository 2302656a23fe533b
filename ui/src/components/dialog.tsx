// Modal dialogs on the browser's own element: it keeps the focus inside and the rest of the page
// out of reach.
import { useEffect, useId, useRef, type SyntheticEvent, type MouseEvent, type ReactNode } from "react";

import type { Operation } from "../api/client";
import { Button } from "./parts";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** A request runs, and its answer is shown by this dialog or by who opened it: it cannot be left. */
  busy?: boolean;
}

export function Dialog({ title, onClose, children, busy = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog !== null && !dialog.open) {
      dialog.showModal();
    }
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, []);
  const leave = () => {
    if (!busy) {
      onClose();
    }
  };
  // The backdrop is the dialog itself, but around it: its scroll bar and its edge are within.
  const onBackdrop = (event: MouseEvent) => {
    const box = ref.current?.getBoundingClientRect();
    if (box === undefined || event.target !== ref.current) {
      return;
    }
    const { clientX: x, clientY: y } = event;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) {
      leave();
    }
  };
  return (
    <dialog
      ref={ref}
      role="dialog"
      aria-modal="true"
      aria-labelledby={titleId}
      className="dialog"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      // A browser closes it at the second Escape, whatever the page says to the first.
      onClose={() => (busy ? ref.current?.showModal() : onClose())}
      onMouseDown={onBackdrop}
    >
      <div className="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface FormDialogProps extends DialogProps {
  submit: string;
  /** For a dialog that is opened also by those who may not submit it. */
  needs?: Operation;
  ready: boolean;
  busy: boolean;
  onSubmit: () => void;
  danger?: boolean;
  /** The button that leaves, where "Cancel" could be taken for the action. */
  leave?: string;
  /** Another button, left of the others. */
  left?: ReactNode;
}

/** A dialog with fields: Enter sends, Cancel and Escape leave. */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, children, submit, needs, ready, busy, onSubmit, danger = false, leave = "Cancel", left } = props;
  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    if (ready && !busy) {
      onSubmit();
    }
  };
  return (
    <Dialog title={title} onClose={onClose} busy={busy}>
      <form className="stack" onSubmit={send}>
        {children}
        <div className="dialog-foot">
          {left !== undefined && <div className="left">{left}</div>}
          <Button disabled={busy} onClick={onClose}>
            {leave}
          </Button>
          <Button type="submit" needs={needs} kind={danger ? "danger-solid" : "primary"} disabled={!ready || busy}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
