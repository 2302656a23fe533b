import { beforeEach, describe, expect, it, vi } from "vitest";

const cookie = () => /corvo_namespace=([^;]*)/.exec(document.cookie)?.[1];
const setCookie = (name: string) => (document.cookie = `corvo_namespace=${name}; path=/; max-age=${name === "" ? 0 : 60}`);

/** Load the modules, as a new or reloaded tab does. */
async function load() {
  vi.resetModules();
  return { key: await import("./key"), client: await import("./client") };
}

beforeEach(() => {
  setCookie("");
  sessionStorage.clear();
});

describe("the namespace of a tab", () => {
  it("begins with the last that was chosen, and with the default for anything else", async () => {
    expect((await load()).key.chosenNamespace()).toBe("default");
    setCookie("acme");
    expect((await load()).key.chosenNamespace()).toBe("acme");
    setCookie("%E0%A4%A");
    expect((await load()).key.chosenNamespace()).toBe("default");
  });

  it("stays when another tab chooses another, and when the tab is loaded again", async () => {
    const { key } = await load();
    key.chooseNamespace("acme");
    expect(cookie()).toBe("acme");
    setCookie("other");
    expect(key.chosenNamespace()).toBe("acme");
    expect((await load()).key.chosenNamespace()).toBe("acme");
  });

  it("is in every request, the default one included", async () => {
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
      sent.push((init.headers as Record<string, string>)["X-Corvo-Namespace"]);
      return Promise.resolve(Response.json({}));
    });
    const { key, client } = await load();
    await client.get("/info");
    key.chooseNamespace("acme");
    await client.get("/info");
    await client.get("/info", { namespace: "other" });
    expect(sent).toEqual(["default", "acme", "other"]);
    vi.unstubAllGlobals();
  });

  it("is in the cookie when a stream is opened, which has no headers", async () => {
    const seen: unknown[] = [];
    vi.stubGlobal("EventSource", function () {
      seen.push(cookie());
    });
    const { key } = await load();
    key.chooseNamespace("acme");
    setCookie("other");
    key.openStream("/api/v1/events");
    key.chooseNamespace("default");
    setCookie("other");
    key.openStream("/api/v1/events");
    expect(seen).toEqual(["acme", undefined]);
    vi.unstubAllGlobals();
  });
});
