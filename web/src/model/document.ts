// A document of the editor: a network, where its parts are drawn, and places to return to.

import { emptyNetwork, type Network } from "./form";
import { ancestors, type ItemId, itemId } from "./items";

export interface Position {
  x: number;
  y: number;
}

export interface Bookmark {
  group: string;
  item?: ItemId;
}

export interface EditorDocument {
  network: Network;
  layout: Record<ItemId, Position>;
  bookmarks: Record<string, Bookmark>;
}

export function emptyDocument(network: Network = emptyNetwork()): EditorDocument {
  return { network, layout: {}, bookmarks: {} };
}

export const inputsOf = (network: Network) => network.inputs ?? {};
export const boxesOf = (network: Network) => network.boxes ?? {};
export const outputsOf = (network: Network) => network.outputs ?? {};
export const pointsOf = (network: Network) => network.connection_points ?? {};
export const groupsOf = (network: Network) => network.groups ?? {};

/** Whether a network has no part yet. */
export function isBlank(network: Network): boolean {
  return [inputsOf(network), boxesOf(network), outputsOf(network)].every(
    (items) => Object.keys(items).length === 0,
  );
}

/** Every group, whether it is described or only a part of a box's id. */
export function groupPaths(network: Network): string[] {
  const found = new Set<string>();
  for (const path of Object.keys(groupsOf(network))) {
    for (const each of ancestors(path)) found.add(each);
    found.add(path);
  }
  for (const id of Object.keys(boxesOf(network))) for (const each of ancestors(id)) found.add(each);
  return [...found].sort();
}

/** The ids of all items, groups included. */
export function allItems(network: Network): ItemId[] {
  return [
    ...Object.keys(inputsOf(network)).map((key) => itemId("input", key)),
    ...Object.keys(boxesOf(network)).map((key) => itemId("box", key)),
    ...Object.keys(outputsOf(network)).map((key) => itemId("output", key)),
    ...groupPaths(network).map((key) => itemId("group", key)),
  ];
}

/** Whether a stream's name is taken: inputs and boxes share their names. */
export function isTaken(network: Network, id: string): boolean {
  return id in inputsOf(network) || id in boxesOf(network);
}

export function freeName(wanted: string, taken: (name: string) => boolean): string {
  if (!taken(wanted)) return wanted;
  const stem = wanted.replace(/[0-9]+$/, "");
  let number = 2;
  while (taken(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}
