import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { prepareFirstPage } from "./app/firstPage.ts";
import { createServices } from "./app/services.ts";
import { I18nProvider } from "./i18n/I18n.tsx";
import { loadMessages, pageLanguage } from "./i18n/language.ts";
import { registerOfflinePage } from "./offline/register.ts";
import "./styles.css";

history.scrollRestoration = "manual";
registerOfflinePage();

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");
const services = createServices();
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) services.session.returned();
});
const language = pageLanguage();
const [messages] = await Promise.all([loadMessages(language), prepareFirstPage(services)]);
createRoot(root).render(
  <StrictMode>
    <I18nProvider language={language} messages={messages}>
      <App services={services} />
    </I18nProvider>
  </StrictMode>,
);
