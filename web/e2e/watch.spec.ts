// What is seen of a network at work: breakpoints and steps, shedding, history, and who may do what.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { PROGRAM, serve } from "./node";
import { accessible, chooseArc, command, node, open, runDemo } from "./page";

test("a breakpoint pauses before its tuple, and a stepped train is seen on its way", async ({ page }) => {
  const served = await serve();
  try {
    await runDemo(page, served.url);
    await command(page, "@connections");
    await page.locator(".react-flow__edge-interaction").first().dispatchEvent("click");
    const form = page.getByTestId("arc-breakpoints");
    const predicate = form.getByRole("combobox", { name: "predicate of a breakpoint" });
    await predicate.fill("prt = 22");
    await form.getByRole("button", { name: "+ breakpoint" }).click();
    await expect(form.getByRole("alert")).toContainText("unknown attribute 'prt'");
    await predicate.fill("src = '10.9.8.7'");
    await form.getByRole("button", { name: "+ breakpoint" }).click();
    await expect(page.getByTestId("stopped")).toContainText("src = '10.9.8.7'", { timeout: 60_000 });
    await page.getByTestId("stopped").getByRole("button", { name: "Show it" }).click();
    await expect(page.getByTestId("drawer-breakpoints").getByTestId("tuples")).toContainText("10.9.8.7");
    await accessible(page);

    // A step takes it, and its train goes along the arcs.
    await page.getByRole("button", { name: /Step/ }).click();
    await expect(page.locator("circle.train").first()).toBeAttached();
    await expect(page.locator(".react-flow__edge-path.travelled").first()).toBeAttached();
    await expect(page.locator(".message").last()).toContainText(/Train of [0-9]+ tuples through/);
    await page.getByRole("button", { name: "remove breakpoint stop" }).first().click();
    await expect(page.getByTestId("drawer-breakpoints")).toContainText("No breakpoint is set");
    await page.getByRole("button", { name: /Resume/ }).click();
    await expect(page.getByRole("status").first()).toContainText("running");
  } finally {
    await served.stop();
  }
});

test("a burst is shed, and the drop boxes are seen where they stand", async ({ page }) => {
  // A node that may use a thousandth of its time is overloaded by what others hardly notice.
  const served = await serve(["--set", "node.headroom=0.001"]);
  try {
    await runDemo(page, served.url);
    await expect(node(page, "input/connections")).toContainText(/[1-9][0-9.]*\/s/, { timeout: 60_000 });
    const burst = () =>
      page.request.post(`${served.url}/v1/inputs/connections/tuples`, {
        data: Array.from({ length: 5000 }, (_, index) => ({
          time: new Date().toISOString(),
          src: `10.1.${index % 50}.${index % 200}`,
          dst: "192.168.0.1",
          port: index % 100,
          bytes: 100,
        })),
      });
    await expect
      .poll(
        async () => {
          await burst();
          return page.locator(".arc-label .point.shed").count();
        },
        { timeout: 60_000, intervals: [1000] },
      )
      .toBeGreaterThan(0);
    await page.getByRole("tab", { name: "Drop boxes" }).click();
    const rows = page.getByTestId("drawer-dropboxes").locator("tbody tr");
    const ofInput = rows.filter({ has: page.getByRole("button", { name: "connections", exact: true }) });
    await expect(ofInput.first()).toContainText("%", { timeout: 60_000 });
    await accessible(page);
    await ofInput.first().getByRole("button").click();
    await expect(page.getByTestId("inspector").getByRole("heading", { level: 2 })).toHaveText("connections");
    await page.getByRole("tab", { name: "Charts" }).click();
    const shed = page.locator("figure.chart", { hasText: "Lost" }).locator(".latest");
    await expect(shed).toHaveText(/0\.[0-9]*[1-9]/);
  } finally {
    await served.stop();
  }
});

test("a query begins with the history from before it was attached", async ({ page, request }) => {
  const served = await serve();
  try {
    const network = {
      australis: 1,
      name: "kept",
      inputs: { numbers: { schema: { n: "int" } } },
      boxes: { some: { box: "filter", from: "numbers", predicates: ["n >= 0"] } },
      connection_points: { past: { at: "numbers", history: "1 h" } },
      outputs: { out: { from: "some" } },
    };
    await request.put(`${served.url}/v1/network`, { data: { network } });
    const push = (...values: number[]) =>
      request.post(`${served.url}/v1/inputs/numbers/tuples`, { data: values.map((n) => ({ n })) });
    await push(101, 102, 203);
    await open(page, served.url);
    await page.getByRole("tab", { name: "Queries" }).click();
    await page.getByRole("button", { name: "Query past" }).click();
    const dialog = page.getByRole("dialog");
    const text = dialog.getByRole("textbox", { name: "network of the query" });
    await expect(text).toHaveValue(/schema:[\s\S]*int/);
    await text.fill((await text.inputValue()).replace('"true"', "n < 200"));
    await accessible(page);
    await dialog.getByRole("button", { name: "Attach" }).click();
    await page.getByRole("button", { name: /show its answers/ }).click();
    const answers = page.getByTestId("tuples");
    await expect(answers).toContainText("101", { timeout: 60_000 });
    await expect(answers).toContainText("102");
    await push(150, 250);
    await expect(answers).toContainText("150", { timeout: 60_000 });
    await expect(answers).not.toContainText("203");
    await expect(answers).not.toContainText("250");
    await page.getByRole("button", { name: "Detach" }).click();
    await expect(page.getByTestId("drawer-queries")).toContainText("No query is attached");
  } finally {
    await served.stop();
  }
});

test("what the optimiser did is seen, before and after", async ({ page, request }) => {
  const served = await serve(["--set", "node.optimise=true"]);
  try {
    // Nearly all tuples pass the first filter, which is dear, and nearly none the second.
    const network = {
      australis: 1,
      name: "ordered",
      inputs: { numbers: { schema: { n: "int", m: "int" } } },
      boxes: {
        dear: { box: "filter", from: "numbers", predicates: ["length(sha2(cast(n as string), 256)) > 1"] },
        rare: { box: "filter", from: "dear", predicates: ["upper(cast(m as string)) = '7'"] },
        counted: {
          box: "aggregate",
          from: "rare",
          functions: { count: "count(*)" },
          order: { on: "n" },
          size: 1000,
        },
      },
      outputs: { out: { from: "counted" } },
    };
    await request.put(`${served.url}/v1/network`, { data: { network } });
    const rows = Array.from({ length: 5000 }, (_, n) => ({ n, m: n % 500 }));
    await expect
      .poll(
        async () => {
          await request.post(`${served.url}/v1/inputs/numbers/tuples`, { data: rows });
          const told = await (await request.get(`${served.url}/v1/optimiser`)).json();
          return JSON.stringify(told.running) !== JSON.stringify(told.drawn);
        },
        { timeout: 60_000, intervals: [500] },
      )
      .toBe(true);
    await open(page, served.url);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("tab", { name: "Optimiser" }).click();
    const report = page.getByTestId("optimiser");
    await expect(report.getByRole("img", { name: /Before: as deployed: dear, rare/ })).toBeVisible();
    await expect(report.getByRole("img", { name: /After: as it runs/ })).toBeVisible();
    await expect(report.locator(".changes")).toContainText("rare");
    await accessible(page);
  } finally {
    await served.stop();
  }
});

test("a viewer watches, and sees no control that would be refused", async ({ page, request }) => {
  const folder = mkdtempSync(join(tmpdir(), "australis-tokens-"));
  const file = join(folder, "tokens.json");
  const token = (role: string) =>
    execFileSync(PROGRAM, ["token", "new", `a-${role}`, "--role", role, "--tokens", file, "--json"], {
      encoding: "utf8",
    });
  const texts = Object.fromEntries(
    ["viewer", "operator", "owner"].map((role) => [role, JSON.parse(token(role)).token as string]),
  );
  const served = await serve(["--set", `access.tokens=${file}`]);
  const refused: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() === 403) refused.push(`${answer.request().method()} ${answer.url()}`);
  });
  const enter = async (role: string) => {
    await page.goto(served.url);
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await expect(page.getByTestId("locked")).toBeVisible();
    await accessible(page);
    await page.getByLabel("token").fill(texts[role]!);
    await page.getByRole("button", { name: "Enter" }).click();
    await expect(page.getByRole("status").first()).toContainText(role, { timeout: 30_000 });
  };
  try {
    // On an empty node, a viewer is not offered to run anything.
    await enter("viewer");
    await expect(page.getByTestId("first-run")).toBeVisible();
    await expect(page.getByRole("button", { name: "Run the demo" })).toBeHidden();
    const network = {
      australis: 1,
      name: "watched",
      inputs: { numbers: { schema: { n: "int" } } },
      boxes: { some: { box: "filter", from: "numbers", predicates: ["n >= 0"] } },
      connection_points: { past: { at: "numbers", history: "1 h" } },
      outputs: { out: { from: "some" } },
    };
    const headers = { Authorization: `Bearer ${texts.owner}` };
    await request.put(`${served.url}/v1/network`, { data: { network }, headers });
    await request.post(`${served.url}/v1/inputs/numbers/tuples`, { data: [{ n: 4711 }], headers });
    await request.put(`${served.url}/v1/breakpoints/here`, {
      data: { arc: "numbers", where: "n < 0" },
      headers,
    });

    const controls = {
      Deploy: page.getByRole("button", { name: /^Deploy/ }),
      Pause: page.getByRole("button", { name: /Pause/ }),
      Query: page.getByRole("button", { name: "Query past" }),
      Breakpoint: page.getByRole("button", { name: "+ breakpoint" }),
      Remove: page.getByRole("button", { name: "remove breakpoint here" }),
      Events: page.getByRole("tab", { name: "Events" }),
    };
    const seen: Record<string, string[]> = {};
    for (const role of ["viewer", "operator", "owner"]) {
      await page.evaluate(() => localStorage.clear());
      await enter(role);
      await expect(node(page, "output/out")).toContainText("1 tuples", { timeout: 60_000 });
      await chooseArc(page, "some", "some");
      await page.locator(".react-flow__edge-interaction").first().dispatchEvent("click");
      await expect(page.getByTestId("arc-breakpoints")).toContainText("n < 0");
      await page.getByRole("tab", { name: "Queries" }).click();
      await expect(page.getByTestId("drawer-queries")).toBeVisible();
      await accessible(page);
      seen[role] = [];
      for (const [name, locator] of Object.entries(controls))
        if ((await locator.count()) > 0) seen[role].push(name);
      // Every tab of the drawer, and what keys can do, is allowed as well.
      for (const tab of await page.getByRole("tab").all()) await tab.click();
      for (const key of ["p", "s", "Control+Enter"]) {
        await page.locator(".canvas-holder").focus();
        if (role === "viewer") await page.keyboard.press(key);
      }
      await expect(page.getByRole("dialog")).toBeHidden();
    }
    expect(seen).toEqual({
      viewer: [],
      operator: ["Pause", "Query", "Breakpoint", "Remove"],
      owner: ["Deploy", "Pause", "Query", "Breakpoint", "Remove", "Events"],
    });
    expect(refused).toEqual([]);
  } finally {
    await served.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
