import { useMemo, type ReactNode } from "react";

import { usePermissions } from "../api/queries";
import { RefusalProvider, refusalsOf } from "../lib/permissions";

/** Provides the caller's permissions to the buttons inside. */
export function Permitted({ children }: { children: ReactNode }) {
  const permissions = usePermissions().data;
  const refusals = useMemo(() => refusalsOf(permissions), [permissions]);
  return <RefusalProvider value={refusals}>{children}</RefusalProvider>;
}
