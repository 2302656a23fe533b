// Modal dialogs based on the browser's dialog element, which keeps the focus inside and makes the
// rest of the page inert.
import { useEffect, useId, useRef, type SyntheticEvent, type MouseEvent, type ReactNode } from "react";

import type { Operation } from "../api/client";
import { Button } from "./parts";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** True while a request is running. The dialog cannot be closed then, because it or its owner shows the response. */
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
  // A click on the backdrop has the dialog as its target, but is outside its box. The scroll bar and the border are inside.
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
      // On the second Escape a browser closes the dialog even if the first one was prevented.
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
  /** Set if the dialog can also be opened by callers that may not submit it. */
  needs?: Operation;
  ready: boolean;
  busy: boolean;
  onSubmit: () => void;
  danger?: boolean;
  /** The label of the button that closes the dialog, if "Cancel" could be mistaken for the action. */
  leave?: string;
  /** Another button, to the left of the others. */
  left?: ReactNode;
}

/** A dialog with fields: Enter submits it, Cancel and Escape close it. */
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
