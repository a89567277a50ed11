// Calls of the node's HTTP API. Every failure is an ApiError with what failed and what to try.

import type { Network } from "../model";
import type {
  Attached,
  Breakpoint,
  Checked,
  Deployed,
  Difference,
  NodeInfo,
  Optimised,
  Train,
  Tuple,
} from "./types";

const TOKEN = "australis.token";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly path = "",
    readonly hint = "",
  ) {
    super(message);
  }
}

/** The token is kept for this tab alone, and is in no address. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value: string) => sessionStorage.setItem(TOKEN, value),
};

export function base(): string {
  return new URL(".", document.baseURI).pathname.replace(/\/$/, "");
}

interface Options {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function answer(
  method: string,
  path: string,
  { body, headers, signal }: Options = {},
): Promise<Response> {
  const held = token.get();
  let response: Response;
  try {
    response = await fetch(base() + path, {
      method,
      ...(signal ? { signal } : {}),
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(held ? { Authorization: `Bearer ${held}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The node does not answer", "", "The page tries again by itself");
  }
  if (response.ok) return response;
  throw await refusalOf(response);
}

async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { code, message, path, hint } = JSON.parse(text).error;
    return new ApiError(response.status, code, message, path ?? "", hint ?? "");
  } catch {
    return new ApiError(response.status, "internal", text.slice(0, 200) || response.statusText);
  }
}

async function call<T>(method: string, path: string, options?: Options): Promise<T> {
  const response = await answer(method, path, options);
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
}

const named = encodeURIComponent;

export const api = {
  node: () => call<NodeInfo>("GET", "/v1/node"),
  network: async (): Promise<Deployed | null> => {
    try {
      return await call<Deployed>("GET", "/v1/network");
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
  live: () => call<{ network: Network }>("GET", "/v1/network?live=true"),
  check: (network: Network, signal?: AbortSignal) =>
    call<Checked>("POST", "/v1/network/check", { body: { network }, ...(signal ? { signal } : {}) }),
  diff: async (network: Network): Promise<Difference> => {
    const { difference, lines } = await call<{ difference: { lost?: string[] }; lines: string[] }>(
      "POST",
      "/v1/network/diff",
      { body: { network } },
    );
    return { lines, lost: difference.lost ?? [] };
  },
  deploy: (network: Network, revision: string | null, acceptLoss: boolean) =>
    call<{ revision: string }>("PUT", "/v1/network", {
      body: acceptLoss ? { network, accept_loss: true } : { network },
      headers: { "If-Match": `"${revision ?? ""}"` },
    }),
  pause: () => call("POST", "/v1/network/pause"),
  resume: () => call("POST", "/v1/network/resume"),
  step: () => call<{ train: Train | null }>("POST", "/v1/network/step"),
  breakpoints: async () => (await call<{ breakpoints: Breakpoint[] }>("GET", "/v1/breakpoints")).breakpoints,
  setBreakpoint: (name: string, arc: string, where: string) =>
    call<Breakpoint>("PUT", `/v1/breakpoints/${named(name)}`, { body: { arc, where } }),
  removeBreakpoint: (name: string) => call("DELETE", `/v1/breakpoints/${named(name)}`),
  optimiser: () => call<Optimised>("GET", "/v1/optimiser"),
  peek: (arc: string, limit = 50) => call<unknown>("GET", `/v1/arcs/${named(arc)}/peek?limit=${limit}`),
  push: (input: string, tuples: Tuple[]) =>
    call("POST", `/v1/inputs/${named(input)}/tuples`, { body: tuples }),
  outputTuples: (output: string, limit = 100) =>
    call<unknown>("GET", `/v1/outputs/${named(output)}/tuples?limit=${limit}&form=json`),
  output: (output: string) =>
    call<{ statistics: Record<string, unknown> | null }>("GET", `/v1/outputs/${named(output)}`),
  points: async () =>
    (await call<{ points: { name: string; schema: string }[] }>("GET", "/v1/points")).points,
  queries: async () => (await call<{ queries: Attached[] }>("GET", "/v1/queries")).queries,
  attach: (name: string, network: Network) =>
    call("PUT", `/v1/queries/${named(name)}`, { body: { network } }),
  detach: (name: string) => call("DELETE", `/v1/queries/${named(name)}`),
  quarantine: (limit = 100) => call<unknown>("GET", `/v1/quarantine?limit=${limit}`),
  dropboxes: async () =>
    (await call<{ dropboxes: Record<string, unknown>[] }>("GET", "/v1/dropboxes")).dropboxes,
  statistics: () => call<Record<string, unknown>>("GET", "/v1/statistics"),
  audit: (limit = 50) => call<unknown>("GET", `/v1/audit?limit=${limit}`),
};

/** Server-sent events by fetch, as an EventSource cannot carry a token; ends when the signal does. */
export async function follow(
  path: string,
  heard: (event: string, data: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await answer("GET", path, { signal, headers: { Accept: "text/event-stream" } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value.replaceAll("\r\n", "\n")).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const event =
        lines
          .find((line) => line.startsWith("event:"))
          ?.slice(6)
          .trim() ?? "message";
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
      if (data.length > 0) heard(event, JSON.parse(data.join("\n")));
    }
  }
}

/** The tuples in an answer: the array itself, or under `tuples`. */
export function tuplesOf(value: unknown): Tuple[] {
  if (Array.isArray(value)) return value as Tuple[];
  if (typeof value === "object" && value !== null)
    for (const each of Object.values(value)) if (Array.isArray(each)) return each as Tuple[];
  return [];
}
