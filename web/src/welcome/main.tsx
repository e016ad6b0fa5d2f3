import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { I18nProvider } from "../i18n/I18n.tsx";
import { loadMessages, pageLanguage } from "../i18n/language.ts";
import { registerOfflinePage } from "../offline/register.ts";
import { sessionChannel } from "../session/channel.ts";
import { noteViewer } from "../session/expectation.ts";
import "../styles.css";
import { Welcome } from "./Welcome.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");

// The server answers the same address with the app once there is a session.
const channel = new BroadcastChannel(sessionChannel);
channel.onmessage = () => location.reload();
const enter = async () => {
  channel.postMessage("changed");
  location.replace("/");
  await new Promise(() => {}); // the form stays busy until the app is there
};

registerOfflinePage();
noteViewer(null);
const language = pageLanguage();
const messages = await loadMessages(language);
hydrateRoot(
  root,
  <StrictMode>
    <I18nProvider language={language} messages={messages}>
      <Welcome onLoggedIn={enter} />
    </I18nProvider>
  </StrictMode>,
);
