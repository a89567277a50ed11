// Takes the pictures of docs/editor.md and the README: `make screenshots`.

import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { serve } from "./node";
import { colours, command, node, open, runDemo } from "./page";

const PICTURES = join(import.meta.dirname, "..", "..", "docs", "pictures", "editor");

async function take(page: Page, name: string): Promise<void> {
  await expect(page.locator(".message")).toHaveCount(0);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

test("pictures of every view", async ({ page }) => {
  test.setTimeout(400_000);
  const served = await serve(["--set", "node.optimise=true"]);
  try {
    await open(page, served.url);
    await colours(page, "light");
    await expect(page.getByTestId("first-run")).toContainText("Run the demo");
    await take(page, "first-run");
    await page.getByRole("button", { name: "Run the demo" }).click();
    await expect(page.getByRole("status").first()).toContainText("running", { timeout: 90_000 });
    await page.getByRole("button", { name: "Arrange" }).click();
    await expect(node(page, "output/active")).toContainText(/[1-9][0-9]* tuples/, { timeout: 120_000 });
    await page.waitForTimeout(15_000);
    await page.keyboard.press("f");
    await node(page, "output/active").click();
    await take(page, "run");
    await colours(page, "dark");
    await take(page, "run-dark");
    await page.getByRole("tab", { name: "Queries" }).click();
    await page.getByRole("button", { name: "Query recent" }).click();
    await take(page, "query-dark");
    await page.keyboard.press("Escape");
    await colours(page, "light");
    await page.getByRole("tab", { name: "Optimiser" }).click();
    await expect(page.getByTestId("optimiser").getByRole("img").first()).toBeVisible();
    await take(page, "optimiser");
    await colours(page, "dark");
    await take(page, "optimiser-dark");
    await page.request.put(`${served.url}/v1/breakpoints/scanner`, {
      data: { arc: "connections", where: "src = '10.9.8.7'" },
    });
    await page.getByTestId("stopped").getByRole("button", { name: "Show it" }).click();
    await take(page, "breakpoint-dark");
    await colours(page, "light");
    await take(page, "breakpoint");
    await page.getByRole("button", { name: /Step/ }).click();
    await page.locator("circle.train").first().waitFor({ state: "attached" });
    await page.waitForTimeout(150);
    await page.screenshot({ path: join(PICTURES, "step.png") });
    await page.request.delete(`${served.url}/v1/breakpoints/scanner`);
    await page.getByRole("button", { name: /Resume/ }).click();
    await colours(page, "dark");
    await page.getByRole("button", { name: "close the drawer" }).click();
    await page.getByRole("button", { name: "Build", exact: true }).click();
    await node(page, "box/a").click();
    await page.keyboard.press("f");
    await take(page, "build-dark");
    await colours(page, "light");
    await take(page, "build");
    await node(page, "output/active").click();
    await take(page, "quality");
    await node(page, "group/beacon").dblclick();
    await expect(node(page, "box/beacon.sorted")).toBeVisible();
    await page.getByRole("button", { name: "Arrange" }).click();
    await page.waitForTimeout(1500);
    await page.keyboard.press("f");
    await take(page, "group");
    await command(page, "@b");
    await page.getByRole("combobox", { name: "predicates 1" }).fill("connectons >= 30");
    await expect(page.getByTestId("inspector").locator(".problem").first()).toBeVisible();
    await page.keyboard.press("Escape");
    await take(page, "problem");
    await page.keyboard.press("Control+z");
    await page.getByRole("combobox", { name: "predicates 1" }).fill("connections >= 30");
    await expect(page.getByTestId("check-state")).toContainText("checked");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await expect(page.getByTestId("deploy")).toContainText("predicates");
    await take(page, "deploy");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await take(page, "commands");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await take(page, "keys");
    await page.keyboard.press("Escape");
    await colours(page, "contrast");
    await take(page, "build-contrast");
  } finally {
    await served.stop();
  }
});

test("pictures of a node that sheds", async ({ page }) => {
  const served = await serve(["--set", "node.headroom=0.001"]);
  try {
    await runDemo(page, served.url);
    await page.getByRole("button", { name: "Arrange" }).click();
    await expect(node(page, "input/connections")).toContainText(/[1-9][0-9.]*\/s/, { timeout: 60_000 });
    await page.keyboard.press("f");
    await page.getByRole("tab", { name: "Drop boxes" }).click();
    await expect
      .poll(
        async () => {
          await page.request.post(`${served.url}/v1/inputs/connections/tuples`, {
            data: Array.from({ length: 5000 }, (_, index) => ({
              time: new Date().toISOString(),
              src: `10.1.${index % 50}.${index % 200}`,
              dst: "192.168.0.1",
              port: index % 100,
              bytes: 100,
            })),
          });
          return page.locator(".arc-label .point.shed").count();
        },
        { timeout: 60_000, intervals: [1000] },
      )
      .toBeGreaterThan(0);
    await colours(page, "light");
    await page.screenshot({ path: join(PICTURES, "shed.png") });
    await colours(page, "dark");
    await page.screenshot({ path: join(PICTURES, "shed-dark.png") });
  } finally {
    await served.stop();
  }
});
