import { useReactFlow, useStore } from "@xyflow/react";
import { type PointerEvent, useEffect, useRef } from "react";
import { boundsOf } from "./geometry";
import { toneOf } from "./glyphs";
import { paletteOf, type Scene } from "./painting";

const WIDTH = 150;
const HEIGHT = 92;
const MARGIN = 8;

interface Props {
  scene: Scene;
  look: string;
}

/** The whole level in small, with what the window shows of it; a press goes there. */
export function MiniMap({ scene, look }: Props) {
  const flow = useReactFlow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const bounds = boundsOf(scene.rects.values());
  const scale = Math.min((WIDTH - 2 * MARGIN) / bounds.width, (HEIGHT - 2 * MARGIN) / bounds.height);
  const left = (WIDTH - bounds.width * scale) / 2;
  const top = (HEIGHT - bounds.height * scale) / 2;
  const isWhole = useStore((state) => {
    const [x, y, zoom] = state.transform;
    const first = { x: bounds.x * zoom + x, y: bounds.y * zoom + y };
    const last = { x: first.x + bounds.width * zoom, y: first.y + bounds.height * zoom };
    return first.x >= 0 && first.y >= 0 && last.x <= state.width && last.y <= state.height;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the look decides the colours that are read
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !canvas.current) return;
    const colours = paletteOf(canvas.current);
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    for (const node of scene.view.nodes) {
      const rect = scene.rects.get(node.id);
      if (!rect) continue;
      context.fillStyle = scene.selection.has(node.id)
        ? colours.accent!
        : (colours[toneOf(scene.kinds.get(node.id) ?? node.kind)] ?? colours.end!);
      const x = left + (rect.x - bounds.x) * scale;
      const y = top + (rect.y - bounds.y) * scale;
      context.fillRect(x, y, Math.max(2, rect.width * scale), Math.max(1.5, rect.height * scale));
    }
  }, [scene, look, isWhole]);
  const go = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.left - left) / scale + bounds.x;
    const y = (event.clientY - box.top - top) / scale + bounds.y;
    void flow.setCenter(x, y, { zoom: flow.getZoom() });
  };
  // Where all is in view, it would only hide some of it.
  if (isWhole) return null;
  return (
    <div
      className="minimap"
      onPointerDown={go}
      onPointerMove={go}
      role="img"
      aria-label="mini-map of this level"
    >
      <canvas ref={canvas} width={WIDTH * 2} height={HEIGHT * 2} />
      <Frame left={left - bounds.x * scale} top={top - bounds.y * scale} scale={scale} />
    </div>
  );
}

/** What the window shows; it alone follows each movement. */
function Frame({ left, top, scale }: { left: number; top: number; scale: number }) {
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const style = {
    transform: `translate(${left + (-x / zoom) * scale}px, ${top + (-y / zoom) * scale}px)`,
    width: (width / zoom) * scale,
    height: (height / zoom) * scale,
  };
  return <div className="frame" style={style} />;
}
