const name = "retwis-logged-in"; // index.html reads it before the first paint

/** What stays in the storage of this browser after a logout: the choices of a device, and what waits for its user only. */
const staying = /^retwis-(theme$|draft:)/;

/** Reports whether a user was logged in on the last visit: space is kept for what they will see. */
export function expectViewer(): boolean {
  return expectedViewer() !== null;
}

/** Returns who was logged in last in this browser; null if nobody was, or if there is no storage. */
export function expectedViewer(): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // without storage the layout may shift
  }
}

/** Remembers who is logged in; null if nobody is. After a logout, it removes what the session left in the storage. */
export function noteViewer(id: string | null): void {
  try {
    if (id !== null) localStorage.setItem(name, id);
    else if (localStorage.getItem(name) !== null) removeTraces();
  } catch {
    // without storage there is no expectation, and nothing to remove
  }
}

/** Removes what waits in this browser for a user who is deleted. */
export function forgetUser(userId: string): void {
  try {
    const draft = `retwis-draft:${userId}`;
    for (const key of Object.keys(localStorage)) {
      if (key === draft || key.startsWith(`${draft}:`)) localStorage.removeItem(key);
    }
  } catch {
    // without storage nothing waits
  }
}

/** Removes the marks of the session, and what the user wrote into the playground. */
function removeTraces(): void {
  for (const key of Object.keys(localStorage)) {
    if (!staying.test(key)) localStorage.removeItem(key);
  }
  sessionStorage.clear();
}
