import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { createServices } from "./app/services.ts";
import "./styles.css";

const services = createServices();
services.connection.watchPage();
history.scrollRestoration = "manual";

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");
createRoot(root).render(
  <StrictMode>
    <App services={services} />
  </StrictMode>,
);
