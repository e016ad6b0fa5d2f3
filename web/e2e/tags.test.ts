import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { compose, login, pill, postOf, sent, untilLive, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

test("a hashtag leads to its posts, which are live", async () => {
  const author = await Person.register(server.url, "tag_author");
  await author.post("Bread and #Garlic, #2026 and C#");
  await author.post("Another #gArLiC, and #ＧＡＲＬＩＣ");
  await author.post("Nothing of the kind");
  const page = await visit(browser, server.url);
  await login(page, author);
  await untilLive(page);
  await compose(page, "Mine has #garlic too");
  await sent(page, "Mine has #garlic too");
  await postOf(page, "Mine has").getByRole("link", { name: "#garlic" }).waitFor();
  expect(await postOf(page, "Bread and").locator("p.post-text a").allInnerTexts()).toEqual(["#Garlic"]);
  await postOf(page, "Another").getByRole("link", { name: "#ＧＡＲＬＩＣ" }).click();
  await page.getByRole("heading", { name: "#Garlic", exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/tag/garlic");
  await expect.poll(() => page.title()).toBe("#Garlic — Retwis");
  await untilLive(page);
  const texts = () => page.locator("p.post-text").allInnerTexts();
  expect(await texts()).toEqual(["Mine has #garlic too", "Another #gArLiC, and #ＧＡＲＬＩＣ", "Bread and #Garlic, #2026 and C#"]);

  const other = await Person.register(server.url, "tag_other");
  const doomed = await other.post("Live #Garlic");
  await page.getByRole("button", { name: "1 new post" }).click();
  await postOf(page, "Live #Garlic").waitFor();
  await other.delete(doomed);
  await postOf(page, "Live #Garlic").waitFor({ state: "detached" });
  expect(await pill(page).count()).toBe(0);
});

test("visitors read hashtags under one address, and unknown ones are empty", async () => {
  const author = await Person.register(server.url, "tag_visited");
  await author.post("Le #Café ouvre");
  const page = await visit(browser, server.url);
  await page.goto("/tag/CAFÉ");
  await page.getByRole("heading", { name: "#Café", exact: true }).waitFor();
  await postOf(page, "Le #Café").waitFor();
  expect(new URL(page.url()).pathname).toBe("/tag/caf%C3%A9");
  await page.goto("/tag/cafe");
  await page.getByText("No posts with #cafe yet.").waitFor();
  await page.goBack();
  await postOf(page, "Le #Café").waitFor();

  const german = await visit(browser, server.url, { locale: "de-DE" });
  await german.goto("/tag/garnichts");
  await german.getByText("Noch keine Beiträge mit #garnichts.").waitFor();
});
