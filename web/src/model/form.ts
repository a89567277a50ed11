// The JSON form of a network, as docs/network-form.md describes it.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json | undefined };

export interface Box extends Fields {
  box: string;
  from?: string | string[];
  tag?: string;
  description?: string;
}

export interface Input extends Fields {
  schema: { [attribute: string]: string };
  table?: boolean;
  from?: string;
  weight?: string;
  description?: string;
}

export type Point = [number, number];

export interface ValueGraph {
  attribute: string;
  points?: Point[];
  categories?: { [name: string]: number };
}

export interface Quality {
  delay?: Point[] | { since?: string; points: Point[] };
  loss?: Point[];
  value?: ValueGraph;
  weight?: number;
}

export interface Output {
  from: string;
  quality?: Quality;
  description?: string;
}

export interface ConnectionPoint extends Fields {
  at: string;
  history?: string | number;
  key?: string;
  importance?: number;
}

export interface Group extends Fields {
  tag?: string;
  description?: string;
}

export interface Network {
  australis: 1;
  name: string;
  description?: string;
  timezone?: string;
  inputs?: Record<string, Input>;
  boxes?: Record<string, Box>;
  connection_points?: Record<string, ConnectionPoint>;
  groups?: Record<string, Group>;
  outputs?: Record<string, Output>;
}

export const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
export const PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

export function emptyNetwork(name = "network"): Network {
  return { australis: 1, name };
}

const SECTIONS = ["inputs", "boxes", "connection_points", "groups", "outputs"] as const;

/** The network with its sections in the order in which the node writes them, without empty ones. */
export function tidy(network: Network): Network {
  const { australis, name, description, timezone, ...rest } = network;
  const sections = SECTIONS.filter((section) => Object.keys(rest[section] ?? {}).length > 0);
  return {
    australis,
    name,
    ...(description ? { description } : {}),
    ...(timezone && timezone !== "UTC" ? { timezone } : {}),
    ...Object.fromEntries(sections.map((section) => [section, rest[section]])),
  };
}

/** What keeps a parsed document from being shown at all; the node's checker says the rest. */
export function formProblem(document: unknown): string | null {
  if (typeof document !== "object" || document === null || Array.isArray(document))
    return "is not a network: expected an object";
  const network = document as Record<string, unknown>;
  if (network.australis !== 1) return `australis: is ${JSON.stringify(network.australis)}; expected 1`;
  if (typeof network.name !== "string" || !NAME.test(network.name))
    return "name: expected a name such as 'soldiers'";
  for (const section of SECTIONS) {
    const items = network[section];
    if (items === undefined) continue;
    if (typeof items !== "object" || items === null || Array.isArray(items))
      return `${section}: expected an object`;
    for (const [key, item] of Object.entries(items))
      if (typeof item !== "object" || item === null || Array.isArray(item))
        return `${section}.${key}: expected an object`;
  }
  return null;
}
