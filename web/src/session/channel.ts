/** The BroadcastChannel on which a tab tells the others that the session changed. */
export const sessionChannel = "retwis-session";
