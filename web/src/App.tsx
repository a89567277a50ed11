import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useSyncExternalStore } from "react";
import { Inspector } from "./build/Inspector";
import { Palette } from "./build/Palette";
import { Canvas } from "./canvas/Canvas";
import { emptyDocument, isBlank } from "./model";
import { Drawer } from "./run/Drawer";
import { Dialogs } from "./shell/Dialogs";
import { FirstRun } from "./shell/FirstRun";
import { Breadcrumbs, Header } from "./shell/Header";
import { listenToKeys } from "./shell/keys";
import { Banner, Locked, Messages } from "./shell/Notices";
import { keepAskingBreakpoints } from "./state/breakpoints";
import { keepChecking } from "./state/checking";
import { keepSaving } from "./state/drafts";
import { editor, useDocument, useEditor } from "./state/editor";
import { keepListening } from "./state/live";
import { keepAsking, useNode } from "./state/node";
import { themeShown, useShell } from "./state/shell";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const onDark = (changed: () => void) => {
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
};

export function App({ hasDraft }: { hasDraft: boolean }) {
  const theme = useShell((state) => state.theme);
  const isDark = useSyncExternalStore(onDark, () => dark.matches);
  const look = themeShown(theme, isDark);
  document.documentElement.dataset.theme = look;
  const mode = useEditor((state) => state.mode);
  const reach = useNode((state) => state.reach);
  useEffect(() => {
    const stops = [
      keepAsking(),
      keepListening(),
      keepAskingBreakpoints(),
      keepChecking(),
      keepSaving(),
      listenToKeys(),
      followDeployed(hasDraft),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [hasDraft]);
  if (reach === "locked") return <Locked />;
  return (
    <ReactFlowProvider>
      <div className={`page ${mode}`}>
        <Header />
        <Banner />
        {mode === "build" && <Palette />}
        <main className="middle">
          <Breadcrumbs />
          <div className="canvas-holder" tabIndex={-1}>
            <Canvas look={look}>
              <Empty />
            </Canvas>
          </div>
          <Drawer />
        </main>
        <Inspector />
        <Messages />
        <Dialogs />
      </div>
    </ReactFlowProvider>
  );
}

function Empty() {
  const { network } = useDocument();
  return isBlank(network) ? <FirstRun /> : null;
}

/** Without a draft, or with an empty one, the page shows what runs; and it follows it as long as nothing was edited. */
function followDeployed(hasDraft: boolean): () => void {
  let isFirst = !hasDraft;
  let isStart = true;
  const look = () => {
    const { deployed, isKnown } = useNode.getState();
    if (!isKnown) return;
    const { origin, history } = editor();
    const isUntouched = history.past.length === 0;
    const isNew = isFirst || isBlank(history.present.network);
    if (deployed && isUntouched && (isNew || (origin && origin.revision !== deployed.revision))) {
      editor().open({ ...emptyDocument(deployed.network), layout: history.present.layout }, deployed);
      editor().setMode("run");
    }
    // Who has changed nothing came to watch.
    if (isStart && deployed && isUntouched && origin?.revision === deployed.revision) editor().setMode("run");
    isStart = false;
    isFirst = false;
  };
  look();
  return useNode.subscribe(look);
}
