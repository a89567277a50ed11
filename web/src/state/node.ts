// The node behind the page: whether it answers, what it runs, and what its caller may do.

import { create } from "zustand";
import { ApiError, api } from "../service/api";
import type { Deployed, NodeInfo, Role } from "../service/types";

export type Reach = "connecting" | "connected" | "unreachable" | "locked";

interface NodeStore {
  reach: Reach;
  info: NodeInfo | null;
  /** What is deployed; null where nothing is. */
  deployed: Deployed | null;
  /** Whether the node has said what is deployed. */
  isKnown: boolean;
}

export const useNode = create<NodeStore>()(() => ({
  reach: "connecting",
  info: null,
  deployed: null,
  isKnown: false,
}));

const EVERY_MS = 2000;

export async function refresh(): Promise<void> {
  try {
    const info = await api.node();
    const before = useNode.getState();
    const isSame = before.isKnown && (before.deployed?.revision ?? null) === (info.network?.revision ?? null);
    const deployed = isSame ? before.deployed : info.network ? await api.network() : null;
    useNode.setState({ reach: "connected", info, deployed, isKnown: true });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A node that is busy or starting answers with an error: it is there.
    if (error.status === 401 || error.status === 403) useNode.setState({ reach: "locked" });
    else if (error.status === 0) useNode.setState({ reach: "unreachable" });
  }
}

export function keepAsking(): () => void {
  let timer = 0;
  let isStopped = false;
  const round = async () => {
    await refresh();
    if (!isStopped) timer = window.setTimeout(round, EVERY_MS);
  };
  void round();
  return () => {
    isStopped = true;
    window.clearTimeout(timer);
  };
}

const RANK: Record<Role, number> = { viewer: 0, operator: 1, owner: 2 };

export function may(role: Role, info: NodeInfo | null): boolean {
  return info !== null && RANK[info.caller.role] >= RANK[role];
}

/** Whether the caller may do what a role may: a control that would be refused is not shown. */
export function useMay(role: Role): boolean {
  return useNode((state) => may(role, state.info));
}
