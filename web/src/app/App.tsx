import { ApolloProvider } from "@apollo/client/react";
import { useSyncExternalStore } from "react";
import { BrowserRouter, Navigate, Route, Routes } from "react-router";
import { HomePage } from "../pages/HomePage.tsx";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { ListMembersPage } from "../lists/ListMembersPage.tsx";
import { ListPage } from "../lists/ListPage.tsx";
import { ListsPage } from "../lists/ListsPage.tsx";
import { MentionsPage } from "../pages/MentionsPage.tsx";
import { CommonFollowersPage, FollowersPage, FollowersYouKnowPage, FollowingPage, NewestUsersPage } from "../pages/PeoplePages.tsx";
import { PostPage } from "../pages/PostPage.tsx";
import { ProfilePage } from "../pages/ProfilePage.tsx";
import { PublicPage } from "../pages/PublicPage.tsx";
import { SettingsPage } from "../settings/SettingsPage.tsx";
import { ServicesContext, type Services } from "./services.ts";
import { Shell } from "./Shell.tsx";

export function App({ services }: { services: Services }) {
  const { session } = services;
  const epoch = useSyncExternalStore(session.subscribe, session.getEpoch);
  return (
    <ServicesContext value={services}>
      <ApolloProvider client={services.client}>
        {/* A transition would leave the keys that follow to the page that is being left. */}
        <BrowserRouter useTransitions={false}>
          {/* Nothing on the screen survives a change of session. */}
          <Routes key={epoch}>
            <Route element={<Shell />}>
              <Route index element={<HomePage />} />
              <Route path="public" element={<PublicPage />} />
              <Route path="public/people" element={<NewestUsersPage />} />
              <Route path="mentions" element={<MentionsPage />} />
              <Route path="lists" element={<ListsPage />} />
              <Route path="lists/:id" element={<ListPage />} />
              <Route path="lists/:id/members" element={<ListMembersPage />} />
              <Route path="u/:username" element={<ProfilePage />} />
              <Route path="u/:username/followers" element={<FollowersPage />} />
              <Route path="u/:username/followers/known" element={<FollowersYouKnowPage />} />
              <Route path="u/:username/followers/common" element={<CommonFollowersPage />} />
              <Route path="u/:username/following" element={<FollowingPage />} />
              <Route path="post/:id" element={<PostPage />} />
              <Route path="settings" element={<SettingsPage />} />
              <Route path="login" element={<Navigate to="/" replace />} />
              <Route path="*" element={<NotFoundPage />} />
            </Route>
          </Routes>
        </BrowserRouter>
      </ApolloProvider>
    </ServicesContext>
  );
}
