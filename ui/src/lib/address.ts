// The names in the addresses of pages.
import { useLocation } from "react-router-dom";

/** Return the last part of a path, decoded: the name of a queue, job or worker. The parameters of the router do not serve
 *  for this, because it turns the "%2F" of a decoded name into a slash. */
export function nameIn(path: string): string {
  const part = path.replace(/\/$/, "").split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Return the name in the address of the page. */
export const useNameInAddress = (): string => nameIn(useLocation().pathname);
