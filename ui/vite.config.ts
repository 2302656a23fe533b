import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server to which `npm run dev` forwards API requests.
const server = process.env.CORVO_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "/ui/",
  plugins: [react()],
  build: {
    target: "es2022",
    // Every asset is a separate file: the page's Content-Security-Policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": server, "/healthz": server } },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    // Long enough for a busy machine. A successful run takes much less.
    testTimeout: 60_000,
    // Print a line for each file, and only what failed in it.
    slowTestThreshold: 60_000,
    silent: "passed-only",
  },
});
