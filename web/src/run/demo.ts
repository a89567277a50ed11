// The first run: the demo network, and connections that the page makes up and pushes while it is open.

import demo from "../generated/demo.json";
import { emptyDocument, type Network } from "../model";
import { api } from "../service/api";
import type { Tuple } from "../service/types";
import { editor } from "../state/editor";
import { may, refresh, useNode } from "../state/node";
import { shell } from "../state/shell";

const EVERY_MS = 1000;
const USUAL = 60;
const SCANNER = "10.9.8.7";
const BEACON = "10.1.2.3";

export const DEMO = demo as unknown as Network;

export function openDemo(): void {
  editor().open(emptyDocument(DEMO), null);
}

/** Run the demo network, and push connections into it. */
export async function runDemo(): Promise<void> {
  try {
    await api.deploy(DEMO, null, false);
    await refresh();
    const deployed = useNode.getState().deployed;
    editor().open(emptyDocument(deployed?.network ?? DEMO), deployed);
    editor().setMode("run");
    shell().show("charts");
    startFeed();
  } catch (error) {
    shell().say(`The demo does not run: ${(error as Error).message}`, "error");
  }
}

let timer = 0;

export function startFeed(): void {
  if (timer !== 0) return;
  const round = () => {
    const { info, deployed } = useNode.getState();
    const isDemo = deployed?.network.inputs?.connections !== undefined && deployed.network.name === DEMO.name;
    if (!isDemo || !may("operator", info)) return stopFeed();
    if (info?.state === "running") void api.push("connections", connections(Date.now())).catch(() => {});
  };
  timer = window.setInterval(round, EVERY_MS);
  round();
}

export function stopFeed(): void {
  window.clearInterval(timer);
  timer = 0;
}

/** A second of connections: the usual ones, a host that scans ports, and one that calls home at even intervals. */
export function connections(now: number): Tuple[] {
  const at = (part: number) => new Date(now + Math.round(part * EVERY_MS)).toISOString();
  const any = (most: number) => Math.floor(Math.random() * most);
  const usual = Array.from(
    { length: USUAL },
    (_, index): Tuple => ({
      time: at(index / USUAL),
      src: `10.0.${any(4)}.${any(60)}`,
      dst: `192.168.${any(8)}.${any(250)}`,
      port: [80, 443, 22, 53][any(4)]!,
      bytes: 2000 + any(200_000),
    }),
  );
  const scans = Array.from(
    { length: 8 },
    (_, index): Tuple => ({
      time: at((index + 0.5) / 8),
      src: index % 2 ? SCANNER : "10.9.8.6",
      dst: "192.168.1.1",
      port: 1000 + any(3000),
      bytes: 60,
    }),
  );
  const beacon =
    Math.floor(now / 1000) % 4 === 0
      ? [{ time: at(0.5), src: BEACON, dst: "203.0.113.9", port: 443, bytes: 320 }]
      : [];
  return [...usual, ...scans, ...beacon].sort((one, other) =>
    String(one.time).localeCompare(String(other.time)),
  );
}
