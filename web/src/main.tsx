import "@xyflow/react/dist/base.css";
import "./styles/theme.css";
import "./styles/page.css";
import "./styles/canvas.css";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { restore } from "./state/drafts";

const hasDraft = restore();
createRoot(document.getElementById("root")!).render(<App hasDraft={hasDraft} />);
