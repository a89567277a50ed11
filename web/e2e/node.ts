// A real node for the tests: `australis serve` on a root of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TOP = join(import.meta.dirname, "..", "..");
export const PROGRAM = process.env.AUSTRALIS ?? join(TOP, ".venv", "bin", "australis");

export interface TestNode {
  url: string;
  stop(): Promise<void>;
  /** Stop the process, and start it again on the same root and port. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** `AUSTRALIS_RUNNER=spark` runs the tests on Spark. */
export async function serve(options: string[] = []): Promise<TestNode> {
  const root = mkdtempSync(join(tmpdir(), "australis-web-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const runner = process.env.AUSTRALIS_RUNNER ?? "light[1]";
  let child: ChildProcess | null = null;
  const node: TestNode = {
    url,
    async start() {
      const given = [
        "serve",
        "--root",
        join(root, "root"),
        "--runner",
        runner,
        "--listen",
        `127.0.0.1:${port}`,
        ...options,
      ];
      child = spawn(PROGRAM, given, {
        stdio: ["ignore", "ignore", process.env.DEBUG_NODE ? "inherit" : "ignore"],
      });
      const begun = Date.now();
      for (;;) {
        const isReady = await fetch(`${url}/readyz`).then(
          (answer) => answer.ok,
          () => false,
        );
        if (isReady) return;
        if (Date.now() - begun > 90_000) throw new Error("the node is not ready after 90 s");
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    },
    async kill() {
      const running = child;
      if (!running || running.exitCode !== null) return;
      await new Promise<void>((resolve) => {
        running.once("exit", () => resolve());
        running.kill("SIGTERM");
      });
    },
    async stop() {
      await node.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
  await node.start();
  return node;
}

/** A network with many boxes in chains, for measuring. */
export function manyBoxes(count: number): object {
  const boxes: Record<string, object> = {};
  const outputs: Record<string, object> = {};
  const chain = 20;
  for (let index = 0; index < count; index += 1) {
    const isFirst = index % chain === 0;
    boxes[`b${index}`] = {
      box: "filter",
      from: isFirst ? "numbers" : `b${index - 1}`,
      predicates: [`n >= ${index}`],
    };
    if (index % chain === chain - 1) outputs[`o${index}`] = { from: `b${index}` };
  }
  return { australis: 1, name: "many", inputs: { numbers: { schema: { n: "int" } } }, boxes, outputs };
}
