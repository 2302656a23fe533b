// Storage of this browser or tab for this server. If storage is forbidden, values last as long as the page.
type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const entries = new Map<string, string>();
const memory: Kept = {
  getItem: (name) => entries.get(name) ?? null,
  setItem: (name, value) => void entries.set(name, value),
  removeItem: (name) => void entries.delete(name),
};

export function storage(): Kept {
  try {
    return window.localStorage;
  } catch {
    return memory;
  }
}

export function tabStorage(): Kept {
  try {
    return window.sessionStorage;
  } catch {
    return memory;
  }
}
