import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const node = process.env.AUSTRALIS_NODE ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  base: "./",
  build: {
    outDir: process.env.AUSTRALIS_WEB_OUT ?? "../src/australis/service/web_static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 2000,
    modulePreload: { polyfill: false },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      ["/v1", "/healthz", "/readyz", "/metrics"].map((path) => [
        path,
        { target: node, ws: true, changeOrigin: true },
      ]),
    ),
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
