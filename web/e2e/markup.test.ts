import { expect, test } from "vitest";
import { Person } from "./api.ts";
import { problems, visit } from "./browser.ts";
import { browser, server, startForTests } from "./suite.ts";

startForTests();

const image = `<img src=x onerror="document.title='taken over'">`;
const inPath = encodeURIComponent("<img src=x onerror=alert(1)>");
const texts = [
  `<script>document.title = "taken over"</script>`,
  image,
  `</p></article><iframe srcdoc="<script>top.document.title='taken over'</script>"></iframe>`,
  `<svg><a href="javascript:document.title='taken over'">press</a></svg>`,
  `javascript:document.title='taken over'`,
  `[press](javascript:document.title='taken over') data:text/html,<script>alert(1)</script>`,
  `@mallory"><b onmouseover=alert(1)>x</b> &lt;b&gt; {{7*7}} \${7*7}`,
];

test("what people write is text, whatever it looks like", async () => {
  const mallory = await Person.register(server.url, "mallory", image.slice(0, 50));
  await mallory.tellAboutThemselves(image);
  for (const text of texts) await mallory.post(text);

  const page = await visit(browser, server.url);
  let asked = false;
  page.on("dialog", (dialog) => {
    asked = true;
    void dialog.dismiss();
  });
  for (const path of [`/u/${mallory.username}`, "/public", `/u/${inPath}`, `/post/${inPath}`]) {
    await page.goto(path);
    if (path === `/u/${mallory.username}` || path === "/public") {
      await expect.poll(async () => (await page.locator('article [id$="-text"]').allTextContents()).slice(0, texts.length)).toEqual(texts.toReversed());
      for (const article of await page.getByRole("article").all()) await article.hover();
    } else {
      await page.getByRole("heading").first().waitFor();
    }
    expect(await page.locator("main :is(script, iframe, object, embed, svg a, [onerror], [onmouseover], img[src='x'])").count()).toBe(0);
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol));
    expect(links.filter((protocol) => protocol !== "http:" && protocol !== "https:")).toEqual([]);
    expect(await page.title()).not.toBe("taken over");
  }
  expect(asked).toBe(false);
  expect(problems.get(page.context())).toEqual([]);
  await page.context().close();
});
