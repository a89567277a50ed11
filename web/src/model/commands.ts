// What may be done to a document: each command is a value. `apply` in apply.ts gives them their meaning.

import type { Bookmark, EditorDocument, Position } from "./document";
import type { Box, ConnectionPoint, Group, Input, Json, Network, Output } from "./form";
import type { ItemId } from "./items";

export interface Fragment {
  inputs: Record<string, Input>;
  boxes: Record<string, Box>;
  outputs: Record<string, Output>;
  groups: Record<string, Group>;
  layout: Record<ItemId, Position>;
  /** The group that the boxes were copied from. */
  group: string;
}

export type Command =
  | { type: "add_input"; name: string; input: Input; at: Position }
  | { type: "add_box"; id: string; box: Box; at: Position }
  | { type: "add_output"; name: string; output: Output; at: Position }
  | { type: "remove"; items: ItemId[] }
  | { type: "rename"; item: ItemId; to: string }
  | { type: "set"; item: ItemId; path: string[]; value: Json | undefined }
  | { type: "set_network"; field: "name" | "description" | "timezone"; value: string }
  | { type: "set_point"; name: string; point: ConnectionPoint | null }
  | { type: "rename_point"; name: string; to: string }
  | { type: "connect"; from: string; to: ItemId; port: number }
  | { type: "disconnect"; to: ItemId; port: number }
  | { type: "move"; positions: Record<ItemId, Position> }
  | { type: "regroup"; boxes: string[]; group: string }
  | { type: "ungroup"; group: string }
  | { type: "paste"; fragment: Fragment; group: string; by: Position }
  | { type: "bookmark"; name: string; bookmark: Bookmark | null }
  | { type: "replace"; network: Network; layout?: Record<ItemId, Position> }
  | { type: "several"; commands: Command[]; title: string };

/** A command in a few words, for the history and the status line. */
export function titleOf(command: Command): string {
  switch (command.type) {
    case "add_input":
      return `add input ${command.name}`;
    case "add_box":
      return `add ${command.box.box} ${command.id}`;
    case "add_output":
      return `add output ${command.name}`;
    case "remove":
      return command.items.length === 1
        ? `remove ${command.items[0]}`
        : `remove ${command.items.length} parts`;
    case "rename":
      return `rename to ${command.to}`;
    case "set":
      return `set ${command.path.join(".")}`;
    case "set_network":
      return `set ${command.field}`;
    case "set_point":
      return command.point
        ? `set connection point ${command.name}`
        : `remove connection point ${command.name}`;
    case "rename_point":
      return `rename connection point to ${command.to}`;
    case "connect":
      return `connect ${command.from}`;
    case "disconnect":
      return "disconnect";
    case "move":
      return "move";
    case "regroup":
      return command.group ? `group as ${command.group}` : "take out of the group";
    case "ungroup":
      return `ungroup ${command.group}`;
    case "paste":
      return "paste";
    case "bookmark":
      return command.bookmark ? `bookmark ${command.name}` : `remove bookmark ${command.name}`;
    case "replace":
      return `open ${command.network.name}`;
    case "several":
      return command.title;
  }
}

/** Commands with one key that follow each other are one step of the history, such as the letters of a word. */
export function mergeKey(command: Command): string | null {
  switch (command.type) {
    case "set":
      return `set ${command.item} ${command.path.join(".")}`;
    case "set_network":
      return `set_network ${command.field}`;
    case "set_point":
      return command.point ? `set_point ${command.name}` : null;
    default:
      return null;
  }
}

export type Apply = (document: EditorDocument, command: Command) => EditorDocument;
