const name = "retwis-logged-in"; // index.html reads it before the first paint

/** Reports whether a user was logged in on the last visit: space is kept for what they will see. */
export function expectViewer(): boolean {
  try {
    return localStorage.getItem(name) !== null;
  } catch {
    return false; // without storage the layout may shift
  }
}

/** Remembers whether a user is logged in. */
export function noteViewer(loggedIn: boolean): void {
  try {
    if (loggedIn) localStorage.setItem(name, "yes");
    else localStorage.removeItem(name);
  } catch {
    // without storage there is no expectation
  }
}
