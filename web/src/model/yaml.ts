// Networks as YAML. Only `true`, `false`, `null` and numbers are not texts, as where the node reads it.

import { DEFAULT_SCHEMA, dump, FAILSAFE_SCHEMA, load, Type } from "js-yaml";
import { type Network, tidy } from "./form";

const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

const scalar = (tag: string, test: RegExp, construct: (text: string) => unknown) =>
  new Type(`tag:yaml.org,2002:${tag}`, {
    kind: "scalar",
    resolve: (text: unknown) => typeof text === "string" && test.test(text),
    construct,
  });

const SCHEMA = FAILSAFE_SCHEMA.extend({
  implicit: [
    scalar("null", /^(null|)$/, () => null),
    scalar("bool", /^(true|false)$/, (text) => text === "true"),
    scalar("float", NUMBER, Number),
  ],
});

export function parseYaml(text: string): unknown {
  return load(text, { schema: SCHEMA });
}

export function writeYaml(network: Network): string {
  return dump(tidy(network), { schema: DEFAULT_SCHEMA, lineWidth: 110, noRefs: true, quotingType: '"' });
}

/** A network in a text, JSON or YAML. */
export function parseText(text: string): unknown {
  return text.trimStart().startsWith("{") ? JSON.parse(text) : parseYaml(text);
}

export function writeJson(network: Network): string {
  return `${JSON.stringify(tidy(network), null, 2)}\n`;
}
