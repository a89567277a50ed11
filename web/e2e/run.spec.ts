import { expect, test } from "@playwright/test";
import { serve, type TestNode } from "./node";
import { accessible, command, draft, node, open } from "./page";

let served: TestNode;
test.beforeEach(async () => {
  served = await serve();
});
test.afterEach(async () => served.stop());

test("the demo runs in two clicks; it is edited while it runs, paused, stepped, tapped and queried", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await open(page, served.url);
  await page.getByRole("button", { name: "Run the demo" }).click();
  await expect(page.getByRole("status").first()).toContainText("running", { timeout: 60_000 });
  await node(page, "input/connections").click();
  await expect(node(page, "input/connections")).toContainText(/[1-9][0-9.]*\/s/, { timeout: 60_000 });
  await accessible(page);

  // Edited while it runs, with a difference first.
  await page.getByRole("button", { name: "Build", exact: true }).click();
  await command(page, "@b");
  await page.getByRole("combobox", { name: "predicates 1" }).fill("connections >= 30");
  await expect(page.getByTestId("check-state")).toContainText("checked");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await expect(page.getByTestId("deploy")).toContainText("predicates");
  await page.getByTestId("deploy").getByRole("button", { name: "Deploy" }).click();
  await expect(page.locator(".message.done")).toContainText("runs", { timeout: 60_000 });

  // Paused, nothing is dropped; a step runs one train.
  await page.getByRole("button", { name: /Pause/ }).click();
  await expect(page.getByRole("status").first()).toContainText("paused");
  await page.getByRole("button", { name: /Step/ }).click();
  await expect(page.locator(".message").last()).toContainText(/train/i);
  await page.getByRole("button", { name: /Resume/ }).click();
  await expect(page.getByRole("status").first()).toContainText("running");

  // What passes an arc, without stopping it.
  await command(page, "@connections");
  await page.getByRole("tab", { name: "Tuples" }).click();
  await page.keyboard.press("Escape");
  await page.locator(".crumbs button").first().click();
  await page.getByRole("button", { name: /recent/ }).click();
  await page.getByRole("button", { name: "Peek and tap" }).click();
  await page.getByRole("button", { name: /Tap/ }).click();
  await expect(page.getByTestId("tuples")).toContainText("10.0.", { timeout: 60_000 });

  // A query at a connection point: history first.
  await page.getByRole("button", { name: "Query recent" }).click();
  await page.getByRole("button", { name: "Attach" }).click();
  await expect(page.getByTestId("drawer-queries")).toContainText("query", { timeout: 60_000 });
  await page.getByRole("button", { name: /show its answers/ }).click();
  await expect(page.getByTestId("tuples")).toContainText("10.0.", { timeout: 60_000 });
  await accessible(page);
});

test("two browsers on one network: a conflict is shown, and both changes are merged", async ({ browser }) => {
  test.setTimeout(240_000);
  const [one, other] = await Promise.all([browser.newContext(), browser.newContext()]);
  const first = await one.newPage();
  await open(first, served.url);
  await first.getByRole("button", { name: "Run the demo" }).click();
  await expect(first.getByRole("status").first()).toContainText("running", { timeout: 60_000 });

  const second = await other.newPage();
  await open(second, served.url);
  await second.getByRole("button", { name: "Build", exact: true }).click();
  await command(second, "@f");
  await second.getByRole("combobox", { name: "predicates 1" }).fill("services >= 9");

  await first.getByRole("button", { name: "Build", exact: true }).click();
  await command(first, "@b");
  await first.getByRole("combobox", { name: "predicates 1" }).fill("connections >= 30");
  await expect(first.getByTestId("check-state")).toContainText("checked");
  await first.getByRole("button", { name: "Deploy", exact: true }).click();
  await first.getByTestId("deploy").getByRole("button", { name: "Deploy" }).click();
  await expect(first.locator(".message.done")).toContainText("runs", { timeout: 60_000 });

  await expect(second.getByTestId("news")).toBeVisible();
  await second.getByRole("button", { name: "Compare" }).click();
  await expect(second.getByTestId("conflict")).toContainText("Another network was deployed");
  await second.getByRole("button", { name: "Merge both" }).click();
  const both = (await draft(second)).boxes!;
  expect([both.b!.predicates, both.f!.predicates]).toEqual([["connections >= 30"], ["services >= 9"]]);
});

test("without the node the page says so, keeps the draft, and connects again by itself", async ({ page }) => {
  await open(page, served.url);
  await page.getByRole("button", { name: "Look at the demo" }).click();
  await served.kill();
  await expect(page.locator(".banner")).toContainText("does not answer");
  await page.keyboard.press("Escape");
  await command(page, "Add filter");
  expect(Object.keys((await draft(page)).boxes!)).toContain("filter");
  await served.start();
  await expect(page.locator(".banner")).toBeHidden();
  await expect(page.getByRole("status").first()).toContainText("no network");
});
