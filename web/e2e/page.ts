// What tests do with the page, in the words of its users.

import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByRole("heading", { name: "Australis" })).toBeVisible();
}

export function node(page: Page, item: string) {
  return page.locator(`.react-flow__node[data-id="${item}"]`);
}

/** Drag a kind from the palette to a place of the canvas, from its middle. */
export async function drop(page: Page, kind: string, dx: number, dy: number): Promise<void> {
  const canvas = page.getByTestId("canvas");
  const box = (await canvas.boundingBox())!;
  await page
    .getByRole("button", { name: `add ${kind}`, exact: true })
    .dragTo(canvas, { force: true, targetPosition: { x: box.width / 2 + dx, y: box.height / 2 + dy } });
}

/** Drag from an output port to an input port. */
export async function wire(page: Page, from: string, to: string, outPort = 0, inPort = 0): Promise<void> {
  const source = node(page, from).locator(`.react-flow__handle[data-handleid="out${outPort}"]`);
  const target = node(page, to).locator(`.react-flow__handle[data-handleid="in${inPort}"]`);
  const begin = (await source.boundingBox())!;
  const end = (await target.boundingBox())!;
  await page.mouse.move(begin.x + begin.width / 2, begin.y + begin.height / 2);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 6 });
  await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 3 });
  await page.mouse.up();
}

/** Run a command by its name, as by keyboard. */
export async function command(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByTestId("commands").getByRole("combobox").fill(text);
  await page.keyboard.press("Enter");
}

/** The network of the draft, as the page keeps it. */
export async function draft(page: Page): Promise<Record<string, Record<string, Record<string, unknown>>>> {
  await page.evaluate(() => window.dispatchEvent(new Event("pagehide")));
  return page.evaluate(() => JSON.parse(localStorage.getItem("australis.draft") ?? "null")?.present.network);
}

/** The demo at work, opened by its button. */
export async function runDemo(page: Page, url: string): Promise<void> {
  await open(page, url);
  await page.getByRole("button", { name: "Run the demo" }).click();
  await expect(page.getByRole("status").first()).toContainText("running", { timeout: 90_000 });
}

/** Choose an arc by the stream that it carries, which keyboards do by the list of a box's results. */
export async function chooseArc(page: Page, box: string, stream: string): Promise<void> {
  await command(page, `@${box}`);
  await page.getByTestId("inspector").getByRole("button", { name: stream, exact: true }).click();
}

/** Choose colours. */
export async function colours(page: Page, theme: string): Promise<void> {
  await page.getByRole("combobox", { name: "colours" }).selectOption(theme);
}

/** No finding of axe that is serious or critical. */
export async function accessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter((each) => each.impact === "serious" || each.impact === "critical");
  expect(
    grave.map((each) => `${each.id}: ${each.nodes.map((found) => found.html.slice(0, 160)).join("\n")}`),
  ).toEqual([]);
}
