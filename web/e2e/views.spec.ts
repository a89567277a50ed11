// Every view in all colours, and everything undone.

import { expect, type Page, test } from "@playwright/test";
import { serve, type TestNode } from "./node";
import { accessible, chooseArc, colours, command, node, open, runDemo } from "./page";

let served: TestNode;
test.beforeEach(async () => {
  served = await serve(["--set", "node.optimise=true"]);
});
test.afterEach(async () => served.stop());

/** How each view is opened, and how it is left. */
const BUILD: [string, (page: Page) => Promise<unknown>][] = [
  ["a box", (page) => command(page, "@b")],
  ["an output with its graphs", (page) => command(page, "@active")],
  ["an input", (page) => command(page, "@connections")],
  ["an arc", (page) => chooseArc(page, "b", "b")],
  ["a group", (page) => command(page, "@beacon")],
  ["inside a group", (page) => page.keyboard.press("Enter")],
  ["all boxes without groups", (page) => command(page, "All boxes without groups")],
  ["the outline", (page) => page.getByRole("tab", { name: "Network" }).click()],
  ["the palette", (page) => page.getByRole("tab", { name: "Boxes" }).click()],
  ["several boxes", (page) => command(page, "Select all")],
  ["the problems", (page) => page.getByRole("tab", { name: "Problems" }).click()],
];
const DIALOGS: [string, (page: Page) => Promise<unknown>][] = [
  ["commands", (page) => page.keyboard.press("Control+k")],
  ["keys", (page) => command(page, "Keys")],
  ["import", (page) => command(page, "Import")],
  ["export", (page) => command(page, "Export")],
  ["deploy", (page) => page.getByRole("button", { name: /^Deploy/ }).click()],
  ["manual", (page) => page.getByRole("button", { name: "manual of join" }).click()],
];
const TABS = [
  "Charts",
  "Tuples",
  "Queries",
  "Breakpoints",
  "Drop boxes",
  "Optimiser",
  "Quarantine",
  "Events",
];

test("no view has a serious finding, in light, dark and high contrast", async ({ page }) => {
  test.setTimeout(600_000);
  await open(page, served.url);
  for (const theme of ["light", "dark", "contrast"]) {
    await colours(page, theme);
    await test.step(`first run, ${theme}`, () => accessible(page));
  }
  await runDemo(page, served.url);
  await expect(node(page, "input/connections")).toContainText(/[1-9][0-9.]*\/s/, { timeout: 60_000 });
  await page.request.put(`${served.url}/v1/breakpoints/never`, {
    data: { arc: "connections", where: "port < 0" },
  });
  for (const theme of ["light", "dark", "contrast"]) {
    await colours(page, theme);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    for (const name of TABS) {
      await page.getByRole("tab", { name }).click();
      await test.step(`${name}, ${theme}`, () => accessible(page));
    }
    await page.getByRole("tab", { name: "Queries" }).click();
    await page.getByRole("button", { name: "Query recent" }).click();
    await test.step(`query, ${theme}`, () => accessible(page));
    await page.keyboard.press("Escape");
    await command(page, "@active");
    await test.step(`an output at work, ${theme}`, () => accessible(page));
    await command(page, "@b");
    await test.step(`a box at work, ${theme}`, () => accessible(page));
    await page.getByRole("button", { name: "Build", exact: true }).click();
    for (const [name, enter] of BUILD) {
      await enter(page);
      await test.step(`${name}, ${theme}`, () => accessible(page));
    }
    await command(page, "All boxes without groups");
    for (const [name, enter] of DIALOGS) {
      await enter(page);
      await expect(page.getByRole("dialog")).toBeVisible();
      await test.step(`dialog ${name}, ${theme}`, () => accessible(page));
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toBeHidden();
    }
  }
  await served.kill();
  await expect(page.locator(".banner")).toContainText("does not answer");
  await accessible(page);
});

test("whatever was done is undone, back to the start, and done again", async ({ page }) => {
  await open(page, served.url);
  await page.getByRole("button", { name: "Look at the demo" }).click();
  const whole = () =>
    page.evaluate(() => {
      window.dispatchEvent(new Event("pagehide"));
      return JSON.parse(localStorage.getItem("australis.draft")!).present;
    });
  const start = await whole();

  // The network: a part, its name, its arguments, its arcs, a copy, a group, a removal.
  await command(page, "@b");
  await command(page, "Add filter");
  await page.keyboard.press("F2");
  await page.keyboard.type("loud");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "predicates 1" }).fill("connections >= 99");
  await page.getByRole("textbox", { name: "description" }).fill("the loudest");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+d");
  await page.keyboard.press("Control+g");
  await command(page, "@loud");
  await page.keyboard.press("Delete");
  // Layout, bookmarks, quality, connection points, the network itself.
  await page.keyboard.press("l");
  await expect(page.getByRole("button", { name: "undo" })).toHaveAttribute("title", /move/);
  await command(page, "@active");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("b");
  await page.getByRole("textbox", { name: "seconds of point 3" }).first().fill("60");
  await page.keyboard.press("Enter");
  const knob = page.getByRole("group", { name: "utility by delay" }).getByRole("slider").nth(1);
  await knob.focus();
  await page.keyboard.press("ArrowRight");
  await chooseArc(page, "near", "near");
  await page.getByRole("button", { name: "+ connection point" }).click();
  await page.locator(".canvas-holder").focus();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "time zone" }).fill("Europe/Berlin");
  await page.keyboard.press("Escape");
  await command(page, "New network");
  await command(page, "Add input");
  await command(page, "Add output");
  const end = await whole();

  const undo = page.getByRole("button", { name: "undo" });
  const titles: string[] = [];
  while (await undo.isEnabled()) {
    titles.push((await undo.getAttribute("title")) ?? "");
    await undo.click();
  }
  expect(await whole()).toEqual(start);
  expect(titles.length).toBeGreaterThan(15);
  const redo = page.getByRole("button", { name: "redo" });
  while (await redo.isEnabled()) await redo.click();
  expect(await whole()).toEqual(end);
});
