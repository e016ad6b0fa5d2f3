const name = "retwis-logged-in";

/** Whether somebody was logged in here the last time: room is kept for what they will see. */
export function expectViewer(): boolean {
  try {
    return localStorage.getItem(name) !== null;
  } catch {
    return false; // no storage: what comes may move something
  }
}

/** Remembers whether somebody is logged in. */
export function noteViewer(loggedIn: boolean): void {
  try {
    if (loggedIn) localStorage.setItem(name, "yes");
    else localStorage.removeItem(name);
  } catch {
    // no storage, no expectation
  }
}
