// A page to create, change and delete objects of one kind: their list and its dialogs.
import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { Operation } from "../api/client";
import { counted } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { ConfirmDialog } from "./job-dialogs";
import { Button, Card, PageHead } from "./parts";
import { Table, type Column } from "./table";

interface ManagedProps<T> {
  /** "Webhooks" and "Webhook", for the heading, the buttons and the dialogs. */
  many: string;
  one: string;
  /** Below the heading. */
  note?: ReactNode;
  items: UseQueryResult<T[]>;
  columns: readonly Column<T>[];
  nameOf: (item: T) => string;
  /** Buttons of a row, before the ones that open its dialogs. */
  actions?: (item: T) => ReactNode;
  /** The label of the button that opens the dialog for an existing item. */
  change: "Edit" | "Clone";
  /** Returns the dialog for an existing item, or for a new one (null). */
  dialog: (item: T | null, onClose: () => void) => ReactNode;
  remove: UseMutationResult<unknown, Error, string>;
  /** The operations of the buttons. */
  needs: { create: Operation; change: Operation; remove: Operation };
  /** Returns the consequences of deleting the item, for the confirmation. */
  removal: (item: T) => string;
  /** Below the list. */
  below?: ReactNode;
}

type Asked<T> = { what: "form"; item: T | null } | { what: "delete"; item: T };

export function Managed<T extends { id: string }>(props: ManagedProps<T>) {
  const { many, one, note, items, columns, nameOf, actions, change, dialog, remove, needs, removal, below } = props;
  useTitle(many);
  const [asked, setAsked] = useState<Asked<T> | null>(null);
  const close = () => {
    remove.reset();
    setAsked(null);
  };
  const deletion = `Delete ${one.toLowerCase()}`;
  const withActions: Column<T>[] = [
    ...columns,
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (item) => (
        <span className={`card-row ${actions === undefined ? "nowrap" : "row-actions"}`}>
          {actions?.(item)}
          <Button compact needs={needs.change} aria-label={`${change} ${nameOf(item)}`} onClick={() => setAsked({ what: "form", item })}>
            {change}
          </Button>
          <Button
            compact
            kind="danger"
            needs={needs.remove}
            aria-label={`Delete ${nameOf(item)}`}
            onClick={() => setAsked({ what: "delete", item })}
          >
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title={many}>
        <Button kind="primary" needs={needs.create} onClick={() => setAsked({ what: "form", item: null })}>
          Create {one}
        </Button>
      </PageHead>
      {note !== undefined && <p className="page-note">{note}</p>}
      <Card title={counted(`All ${many}`, items.data)}>
        <Table
          label={many}
          rows={items.data}
          columns={withActions}
          rowKey={(item) => item.id}
          empty={`No ${many.toLowerCase()} found`}
          error={items.error}
        />
      </Card>
      {below}
      {asked?.what === "form" && dialog(asked.item, close)}
      {asked?.what === "delete" && (
        <ConfirmDialog
          title={deletion}
          text={removal(asked.item)}
          action={deletion}
          run={remove}
          onConfirm={() => remove.mutate(asked.item.id, { onSuccess: close })}
          onClose={close}
        />
      )}
    </>
  );
}
