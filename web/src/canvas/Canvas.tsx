import {
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  type Edge,
  getViewportForBounds,
  type Node,
  type NodeChange,
  ReactFlow,
  SelectionMode,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { type DragEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { addAt } from "../build/adding";
import { hopsOf, type ItemId, itemKey, type NodeId, parseRef, refusal, snapped, viewOf } from "../model";
import { useStepping } from "../state/breakpoints";
import { currentDocument, editor, useDocument, useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { useMay } from "../state/node";
import { shell } from "../state/shell";
import { Arc, type ArcData } from "./Arc";
import { type BoxData, BoxNode } from "./BoxNode";
import { camera as theCamera } from "./camera";
import { boundsOf, placements, type Rect } from "./geometry";
import { MiniMap } from "./MiniMap";
import { countInView, nodeAt, paint, paletteOf, type Scene } from "./painting";

const NODE_TYPES = { box: BoxNode };
const EDGE_TYPES = { arc: Arc };
/** With more boxes in view than this, they are drawn simply. */
const SIMPLE_FROM = 90;
const DETAILED_BELOW = 70;
const SETTLE_MS = 140;
const LABELS_MOST = 80;
/** A few boxes are not made larger than this to fill the window. */
const FIT_MOST = 1.1;

type BoxFlow = Node<BoxData>;

export function Canvas({ look, children }: { look: string; children?: ReactNode }) {
  const document = useDocument();
  const group = useEditor((state) => state.group);
  const flat = useEditor((state) => state.flat);
  const selection = useEditor((state) => state.selection);
  const problems = useEditor((state) => state.problems);
  const isRun = useEditor((state) => state.mode === "run");
  const sample = useLive((state) => (isRun ? state.sample : null));
  const mayEdit = useMay("owner") || !isRun;
  const flow = useReactFlow<BoxFlow>();
  const holder = useRef<HTMLDivElement>(null);

  const view = useMemo(() => viewOf(document, group, flat), [document, group, flat]);
  const rects = useMemo(() => placements(document, view), [document, view]);
  const scene: Scene = useMemo(
    () => ({
      view,
      rects,
      kinds: new Map(
        view.nodes.map((node) => [
          node.id,
          node.kind === "box" ? (document.network.boxes?.[node.key]?.box ?? "") : node.kind,
        ]),
      ),
      selection: new Set(selection),
      faulty: new Set(problems.flatMap((each) => each.item ?? [])),
      sample,
    }),
    [view, rects, selection, problems, sample, document],
  );

  const isSimple = useSimple(rects);

  const [nodes, setNodes] = useState<BoxFlow[]>([]);
  useEffect(() => {
    const chosen = new Set<string>(selection);
    setNodes((before) => {
      const known = new Map(before.map((node) => [node.id, node]));
      return view.nodes.map((node) => {
        const rect = rects.get(node.id)!;
        const old = known.get(node.id);
        const isFixed = node.kind === "from" || node.kind === "to";
        const same = old && old.data.node === node && old.position.x === rect.x && old.position.y === rect.y;
        if (same && old.selected === chosen.has(node.id)) return old;
        return {
          ...(old?.measured ? { measured: old.measured } : {}),
          id: node.id,
          type: "box",
          position: { x: rect.x, y: rect.y },
          data: { node, height: rect.height, width: rect.width },
          width: rect.width,
          height: rect.height,
          selected: chosen.has(node.id),
          draggable: !isFixed,
          focusable: true,
          ariaLabel: `${node.kind} ${node.title}, ${node.subtitle}`,
          domAttributes: { "data-item": node.id } as never,
        };
      });
    });
  }, [view, rects, selection]);

  const train = useStepping((state) => (isRun ? state.train : null));
  const edges: Edge<ArcData>[] = useMemo(() => {
    const hops = train ? hopsOf(view, train) : null;
    const said = new Set<string>();
    const count = new Map<string, number>();
    for (const { ref } of view.edges) count.set(ref, (count.get(ref) ?? 0) + 1);
    return view.edges.map((edge) => {
      // What is said of a stream is said once, on the first of its arcs.
      const isFirst = !said.has(edge.ref);
      said.add(edge.ref);
      return {
        id: edge.id,
        type: "arc",
        source: edge.from,
        sourceHandle: `out${edge.outputPort}`,
        target: edge.to,
        targetHandle: `in${edge.inputPort}`,
        focusable: false,
        data: {
          ref: edge.ref,
          points: edge.points,
          crowded: view.edges.length > LABELS_MOST,
          isFirst,
          isShared: count.get(edge.ref)! > 1,
          hop: hops?.get(edge.id) ?? null,
        },
      };
    });
  }, [view, train]);

  const onNodesChange = useCallback((changes: NodeChange<BoxFlow>[]) => {
    const chosen = new Set<string>(editor().selection);
    let isChanged = false;
    for (const change of changes)
      if (change.type === "select") {
        isChanged = true;
        if (change.selected) chosen.add(change.id);
        else chosen.delete(change.id);
      }
    if (isChanged) editor().select([...chosen] as NodeId[]);
    const moves = changes.filter((change) => change.type === "position" || change.type === "dimensions");
    if (moves.length > 0) setNodes((before) => applyNodeChanges(moves, before));
  }, []);

  const onDragStop = useCallback((_: unknown, __: unknown, moved: BoxFlow[]) => {
    const positions = Object.fromEntries(moved.map((node) => [node.id, snapped(node.position)]));
    editor().run({ type: "move", positions: positions as Record<ItemId, { x: number; y: number }> });
  }, []);

  const targetOf = useCallback(
    (connection: Connection | Edge): { from: string; to: ItemId; port: number } | null => {
      const source = view.nodes.find((node) => node.id === connection.source);
      const ref = source?.outputs[Number(connection.sourceHandle?.slice(3) ?? 0)];
      if (ref === undefined || !connection.target) return null;
      return {
        from: ref,
        to: connection.target as ItemId,
        port: Number(connection.targetHandle?.slice(2) ?? 0),
      };
    },
    [view],
  );
  const isValid = useCallback(
    (connection: Connection | Edge) => {
      const target = targetOf(connection);
      return target !== null && refusal(currentDocument(), target.from, target.to, target.port) === null;
    },
    [targetOf],
  );
  const onConnect = useCallback(
    (connection: Connection) => {
      const target = targetOf(connection);
      if (target) editor().run({ type: "connect", ...target });
    },
    [targetOf],
  );
  const onConnectEnd = useCallback(
    (
      _: unknown,
      state: {
        isValid: boolean | null;
        fromHandle: unknown;
        toHandle: unknown;
        toNode: unknown;
        fromNode: unknown;
      },
    ) => {
      const from = state.fromNode as { id: string } | null;
      const fromHandle = state.fromHandle as { id: string } | null;
      const to = state.toNode as { id: string } | null;
      const toHandle = state.toHandle as { id: string } | null;
      if (state.isValid || !from || !to || from.id === to.id) return;
      const target = targetOf({
        source: from.id,
        target: to.id,
        sourceHandle: fromHandle?.id ?? "out0",
        targetHandle: toHandle?.id?.startsWith("in") ? toHandle.id : "in0",
      });
      const why = target && refusal(currentDocument(), target.from, target.to, target.port);
      if (why) shell().say(`Not connected: ${why}`, "error");
    },
    [targetOf],
  );

  const onDrop = useCallback(
    (event: DragEvent) => {
      const kind = event.dataTransfer.getData("application/x-australis-kind");
      if (!kind) return;
      event.preventDefault();
      addAt(kind, snapped(flow.screenToFlowPosition({ x: event.clientX - 80, y: event.clientY - 28 })));
    },
    [flow],
  );

  const enterNode = useCallback((id: string) => {
    if (id.startsWith("group/")) editor().enter(itemKey(id as ItemId));
    else if (id.startsWith("from/") || id.startsWith("to/")) {
      const origin = parseRef(id.slice(id.indexOf("/") + 1)).id;
      const isInput = origin in (currentDocument().network.inputs ?? {});
      editor().goTo(isInput ? `input/${origin}` : `box/${origin}`);
    }
  }, []);

  // A press on the simple drawing means what it means on a box.
  const onPaneClick = useCallback(
    (event: { clientX: number; clientY: number; detail: number; shiftKey: boolean }) => {
      if (!isSimple) {
        editor().select([]);
        useEditor.setState({ arc: null });
        return;
      }
      const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const id = nodeAt(scene, at.x, at.y);
      editor().select(id ? [id] : []);
      if (id && event.detail === 2) {
        enterNode(id);
        const rect = rects.get(id)!;
        void flow.setCenter(rect.x + rect.width / 2, rect.y + rect.height / 2, { zoom: 1, duration: 200 });
      }
    },
    [isSimple, flow, scene, rects, enterNode],
  );

  useCamera(rects, flow);

  return (
    <div
      ref={holder}
      className="canvas"
      onDrop={onDrop}
      onDragOver={(event) => event.preventDefault()}
      data-testid="canvas"
    >
      {isSimple && <SimpleLayer scene={scene} look={look} />}
      <ReactFlow<BoxFlow, Edge<ArcData>>
        nodes={isSimple ? [] : nodes}
        edges={isSimple ? [] : edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onNodeDragStop={onDragStop}
        onSelectionDragStop={(_, moved) => onDragStop(null, null, moved)}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd as never}
        isValidConnection={isValid}
        onNodeDoubleClick={(_, node) => enterNode(node.id)}
        onEdgeClick={(_, edge) => editor().selectArc(edge.data!.ref)}
        onPaneClick={onPaneClick as never}
        nodesDraggable={mayEdit}
        nodesConnectable={mayEdit}
        deleteKeyCode={null}
        disableKeyboardA11y
        minZoom={0.03}
        maxZoom={2.5}
        zoomOnDoubleClick={false}
        selectionMode={SelectionMode.Partial}
        multiSelectionKeyCode={["Shift", "Meta", "Control"]}
        connectionRadius={28}
        onlyRenderVisibleElements={nodes.length > 100}
        snapToGrid
        snapGrid={[8, 8]}
        proOptions={{ hideAttribution: false }}
        aria-label="network"
      >
        {!isSimple && <Background variant={BackgroundVariant.Dots} gap={24} size={1.2} />}
      </ReactFlow>
      {view.nodes.length > 0 && <MiniMap scene={scene} look={look} />}
      {children}
    </div>
  );
}

/** Whether boxes are drawn simply: many are in view, or the view still moves after that. */
function useSimple(rects: Map<NodeId, Rect>): boolean {
  // Before the first fit, all of a large network may be in view.
  const [isSimple, setSimple] = useState(rects.size > SIMPLE_FROM);
  const crowd = useStore((state) => {
    const [x, y, zoom] = state.transform;
    const count =
      rects.size <= DETAILED_BELOW
        ? 0
        : countInView(rects.values(), { x, y, zoom }, state.width || 1280, state.height || 720);
    return count > SIMPLE_FROM ? "many" : count > DETAILED_BELOW ? "some" : "few";
  });
  // While the view moves, its drawing stays simple: to make boxes in full between two frames would stop it.
  const moving = useStore((state) => (isSimple && crowd === "few" ? state.transform.join() : ""));
  // biome-ignore lint/correctness/useExhaustiveDependencies: each movement begins the wait anew
  useEffect(() => {
    if (crowd === "many") setSimple(true);
    if (crowd !== "few") return;
    const timer = window.setTimeout(() => setSimple(false), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, [crowd, moving]);
  return isSimple || crowd === "many";
}

function SimpleLayer({ scene, look }: { scene: Scene; look: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef(0);
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the look decides the colours that are read
  const colours = useMemo(() => paletteOf(globalThis.document.documentElement), [look]);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || width === 0) return;
    const draw = (hasWords: boolean) =>
      paint(context, { x: 0, y: 0, width, height }, { x, y, zoom }, scene, colours, hasWords);
    // Letters of a new size are slow to draw: while the zoom changes there are none.
    const isZooming = drawn.current !== zoom;
    drawn.current = zoom;
    draw(!isZooming);
    if (!isZooming) return;
    const timer = window.setTimeout(() => draw(true), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, [x, y, zoom, width, height, scene, colours]);
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  return (
    <canvas
      ref={canvas}
      className="simple"
      width={Math.max(1, Math.round(width * ratio))}
      height={Math.max(1, Math.round(height * ratio))}
      aria-hidden="true"
    />
  );
}

/** Fits a level when it is entered, and goes where a search or bookmark leads. */
function useCamera(rects: Map<NodeId, Rect>, flow: ReturnType<typeof useReactFlow<BoxFlow>>): void {
  const teleport = useEditor((state) => state.teleport);
  const group = useEditor((state) => state.group);
  const flat = useEditor((state) => state.flat);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const size = useRef({ width, height });
  size.current = { width, height };
  const latest = useRef(rects);
  latest.current = rects;
  const showAll = useCallback(
    (duration = 0) => {
      const bounds = boundsOf(latest.current.values());
      if (latest.current.size === 0) return;
      const { width: wide, height: high } = size.current;
      void flow.setViewport(getViewportForBounds(bounds, wide, high, 0.03, FIT_MOST, 0.03), { duration });
    },
    [flow],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a level is fitted when it is entered, not when it changes
  useEffect(() => {
    if (width > 0) showAll();
  }, [group, flat, width > 0, teleport.item === null ? teleport.count : 0]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each teleport counts, also to the same place
  useEffect(() => {
    const rect = teleport.item && latest.current.get(teleport.item);
    if (!rect) return;
    const zoom = Math.max(0.8, flow.getZoom());
    void flow.setCenter(rect.x + rect.width / 2, rect.y + rect.height / 2, { zoom, duration: 150 });
  }, [teleport.count]);
  useEffect(() => {
    theCamera.fit = () => showAll(150);
    theCamera.zoomBy = (factor) => void flow.zoomTo(flow.getZoom() * factor, { duration: 100 });
    theCamera.zoomTo = (zoom) => void flow.zoomTo(zoom, { duration: 100 });
    theCamera.center = () => {
      const box = globalThis.document.querySelector(".canvas")!.getBoundingClientRect();
      return flow.screenToFlowPosition({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
    };
  }, [flow, showAll]);
}
