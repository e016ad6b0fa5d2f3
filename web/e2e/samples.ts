/** Texts of posts as people write them, and some that they should not be able to break a page with. */
export const texts = [
  "<script>alert('markup')</script> & <img src=x onerror=alert(1)> stay what they are: text.",
  "نص يُقرأ من اليمين إلى اليسار، بين غيره.",
  "Averylongwordthathasnoendandnospacesandmustbreaksomewhereorthewholepagescrollssidewaysonphoneswhichnobodywants",
  "The first frost this morning, and the garden went quiet all at once.",
  "Reading about how cathedrals were paid for. It took longer to find the money than to lay the stones.",
  "Two things I learnt from baking bread:\n1. the dough knows the time\n2. it will not tell you",
  "A tram, an umbrella, a very small dog.",
];

/** Users who register during a test. A repeated test takes the next one. */
export const newcomers: [name: string, displayName: string, text: string][] = [
  ["vera_k", "Vera Kant", "Moved in today. The kettle was the first thing out of its box."],
  ["omar_b", "Omar Bey", "Four wrong trains and one right one: I am here."],
  ["ilse_r", "Ilse Roth", "Does anybody know what the blackbird says at five in the morning?"],
  ["nils_h", "Nils Hagen", "Hello, all. I was told that people here write about bread."],
  ["ana_p", "Ana Prado", "Someone on the tram was reading Sappho aloud."],
  ["teo_m", "Teo Marsh", "Planted garlic. See you in July."],
  ["lin_w", "Lin Wei", "The lake is the colour of slate today."],
  ["juno_d", "Juno Dahl", "A letter arrived, by hand, with a stamp."],
];
