import { beforeEach, expect, test } from "vitest";
import { ThemeChoice } from "./theme.ts";

const root = document.documentElement;

beforeEach(() => {
  localStorage.clear();
  delete root.dataset["theme"];
});

test("the themes follow each other, and the last one is remembered", () => {
  const choice = new ThemeChoice();
  let told = 0;
  choice.subscribe(() => told++);
  expect(choice.get()).toBe("system");
  choice.next();
  expect([choice.get(), root.dataset["theme"], localStorage.getItem("retwis-theme")]).toEqual(["light", "light", "light"]);
  choice.next();
  expect([choice.get(), root.dataset["theme"], localStorage.getItem("retwis-theme")]).toEqual(["dark", "dark", "dark"]);
  choice.next();
  expect([choice.get(), root.dataset["theme"], localStorage.getItem("retwis-theme")]).toEqual(["system", undefined, null]);
  expect(told).toBe(3);
});

test("a choice in another tab applies here", () => {
  const choice = new ThemeChoice();
  localStorage.setItem("retwis-theme", "dark");
  window.dispatchEvent(new StorageEvent("storage", { key: "retwis-theme" }));
  expect(choice.get()).toBe("dark");
  localStorage.setItem("retwis-theme", "nonsense");
  window.dispatchEvent(new StorageEvent("storage", { key: "retwis-theme" }));
  expect(choice.get()).toBe("system");
});
