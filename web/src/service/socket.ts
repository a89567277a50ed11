// The one WebSocket: live figures once a second. It opens itself again, and later samples replace earlier ones.

import { base, token } from "./api";

export interface Connection {
  close(): void;
}

const WAITS_MS = [500, 1000, 2000, 4000, 8000];

export function connect(heard: (message: unknown) => void, changed: (isOpen: boolean) => void): Connection {
  let socket: WebSocket | null = null;
  let timer = 0;
  let failures = 0;
  let isClosed = false;
  const open = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const held = token.get();
    socket = new WebSocket(
      `${scheme}://${location.host}${base()}/v1/live`,
      held ? [`australis.bearer.${held}`] : [],
    );
    socket.onopen = () => {
      failures = 0;
      changed(true);
    };
    socket.onmessage = (event) => heard(JSON.parse(event.data));
    socket.onclose = () => {
      changed(false);
      if (isClosed) return;
      timer = window.setTimeout(open, WAITS_MS[Math.min(failures, WAITS_MS.length - 1)]);
      failures += 1;
    };
  };
  open();
  return {
    close() {
      isClosed = true;
      window.clearTimeout(timer);
      socket?.close();
    },
  };
}
