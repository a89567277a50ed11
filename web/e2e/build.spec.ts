import { expect, test } from "@playwright/test";
import { serve, type TestNode } from "./node";
import { accessible, command, draft, drop, node, open, wire } from "./page";

let served: TestNode;
test.beforeAll(async () => {
  served = await serve();
});
test.afterAll(async () => served.stop());

test("a network is built by mouse, a wrong connection says why, and all is undone", async ({ page }) => {
  await open(page, served.url);
  await accessible(page);
  await drop(page, "input", -220, -80);
  await drop(page, "filter", 0, -80);
  await drop(page, "output", 220, -80);
  await wire(page, "input/input", "box/filter");
  await wire(page, "box/filter", "output/output");
  expect((await draft(page)).boxes!.filter!.from).toBe("input");
  expect((await draft(page)).outputs!.output!.from).toBe("filter");

  // A loop is refused, with its reason.
  await drop(page, "union", 0, 80);
  await wire(page, "box/filter", "box/union", 1);
  await wire(page, "box/union", "box/filter");
  await expect(page.locator(".message")).toContainText("a network has no loops");

  // The node's checker speaks at the field, and completion helps.
  await node(page, "box/filter").click();
  const predicate = page.getByRole("combobox", { name: "predicates 1" });
  await predicate.fill("idd > 1");
  await expect(page.getByTestId("inspector").locator(".problem").first()).toContainText("idd");
  await predicate.fill("i");
  await predicate.press("ArrowDown");
  await predicate.press("ArrowUp");
  await expect(page.getByRole("option", { name: "id int" })).toBeVisible();
  await predicate.press("Enter");
  await predicate.pressSequentially(" >= 3");
  await node(page, "box/union").click();
  await page.keyboard.press("Delete");
  await expect(page.getByTestId("check-state")).toContainText("checked");
  expect((await draft(page)).boxes!.filter!.predicates).toEqual(["id >= 3"]);

  // A reload in mid-edit loses nothing, the history included.
  const before = await draft(page);
  await page.reload();
  await expect(node(page, "box/filter")).toBeVisible();
  expect(await draft(page)).toEqual(before);
  const undo = page.getByRole("button", { name: "undo" });
  while (await undo.isEnabled()) await undo.click();
  expect(await draft(page)).toEqual({ australis: 1, name: "network" });
  await expect(page.getByTestId("first-run")).toBeVisible();
});

test("a network is built by keyboard alone", async ({ page }) => {
  await open(page, served.url);
  await expect(page.getByTestId("first-run")).toBeVisible();
  await command(page, "Add input");
  await expect(node(page, "input/input")).toBeVisible();
  await command(page, "Add filter");
  await expect(node(page, "box/filter")).toBeVisible();
  await command(page, "Add aggregate");
  await expect(node(page, "box/aggregate")).toBeVisible();
  await command(page, "Add output");
  await expect(node(page, "output/output")).toBeVisible();
  const made = await draft(page);
  expect([made.boxes!.filter!.from, made.boxes!.aggregate!.from, made.outputs!.output!.from]).toEqual([
    "input",
    "filter",
    "aggregate",
  ]);

  // Along the arcs, a rename, and a group; then the group is entered and left.
  await page.keyboard.press("Alt+ArrowLeft");
  await page.keyboard.press("F2");
  await page.keyboard.type("counted");
  await page.keyboard.press("Enter");
  await expect(node(page, "box/counted")).toBeVisible();
  await page.keyboard.press("Control+g");
  await expect(node(page, "group/group")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("navigation", { name: "level" })).toContainText("group");
  await page.keyboard.press("Escape");
  await expect(node(page, "group/group")).toBeVisible();
  expect(Object.keys((await draft(page)).boxes!)).toContain("group.counted");

  // Connect by name: what makes no sense is refused in the list.
  await page.keyboard.press("Escape");
  await command(page, "@filter");
  await page.keyboard.press("c");
  await expect(page.getByRole("option", { name: /output/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await accessible(page);
});

test("superboxes, copies, and search", async ({ page }) => {
  await open(page, served.url);
  await page.getByRole("button", { name: "Look at the demo" }).click();
  await node(page, "group/beacon").dblclick();
  await expect(node(page, "box/beacon.sorted")).toBeVisible();
  await expect(node(page, "from/connections")).toBeVisible();
  await page.keyboard.press("/");
  await page.getByTestId("commands").getByRole("combobox").fill("@type:join");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("inspector")).toContainText("g");
  await page.keyboard.press("Control+d");
  await expect(node(page, "box/g2")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(node(page, "box/g2")).toBeHidden();
  await page.keyboard.press("l");
  await expect(page.getByRole("button", { name: "undo" })).toHaveAttribute("title", /move/);
});

test("a graph of quality is dragged, moved by keys, and entered", async ({ page }) => {
  await open(page, served.url);
  await page.getByRole("button", { name: "Look at the demo" }).click();
  await node(page, "output/active").click();
  const delay = page.getByTestId("quality").getByRole("group", { name: "utility by delay" });
  const knob = delay.getByRole("slider").nth(1);
  await knob.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const after = (await draft(page)).outputs!.active!.quality as { delay: [number, number][] };
  expect(after.delay[1]![0]).toBeGreaterThan(15);
  expect(after.delay[1]![1]).toBe(0.95);
  await page.getByRole("textbox", { name: "seconds of point 3" }).first().fill("60");
  await page.keyboard.press("Enter");
  expect(((await draft(page)).outputs!.active!.quality as typeof after).delay[2]).toEqual([60, 0]);
  const box = (await knob.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 40, box.y + box.height / 2 - 30, { steps: 4 });
  await page.mouse.up();
  expect(((await draft(page)).outputs!.active!.quality as typeof after).delay[1]![0]).toBeLessThan(
    after.delay[1]![0],
  );
  await accessible(page);
});
