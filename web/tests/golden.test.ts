// The networks of tests/web/golden, which the Python tests read as well: both sides mean the same by them.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  boxesOf,
  formProblem,
  type Network,
  outputPorts,
  parseText,
  pythonOf,
  tidy,
  writeJson,
  writeYaml,
} from "../src/model";

const FOLDER = join(import.meta.dirname, "..", "..", "tests", "web", "golden");
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -5));

function expectFile(name: string, text: string) {
  const path = join(FOLDER, name);
  if (process.env.UPDATE_GOLDEN || !existsSync(path)) writeFileSync(path, text);
  expect(text, "UPDATE_GOLDEN=1 writes it anew").toBe(readFileSync(path, "utf8"));
}

describe.each(NAMES)("%s", (name) => {
  const golden = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));
  const network = golden.document as Network;

  it("is a network, and tidy", () => {
    expect(formProblem(network)).toBeNull();
    expect(JSON.stringify(tidy(network))).toBe(JSON.stringify(network));
  });

  it("reads back from JSON and YAML as it was", () => {
    expect(parseText(writeJson(network))).toEqual(network);
    expect(parseText(writeYaml(network))).toEqual(network);
  });

  it("has the output ports that the algebra counts", () => {
    const ports = Object.fromEntries(
      Object.entries(boxesOf(network)).map(([id, box]) => [id, outputPorts(box)]),
    );
    expect(ports).toEqual(golden.outputs);
  });

  it("is written as YAML and as Python code, which the Python tests read", () => {
    expectFile(`${name}.yaml`, writeYaml(network));
    expectFile(`${name}.python`, pythonOf(network));
  });
});
