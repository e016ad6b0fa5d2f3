import { RetwisProvider } from "@retwis/client";
import { useSyncExternalStore } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { HomePage } from "../pages/HomePage.tsx";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { PublicPage } from "../pages/PublicPage.tsx";
import { useAppLocation } from "../router/visit.ts";
import { lazily } from "../ui/lazily.ts";
import { ServicesContext, type Services } from "./services.ts";
import { Shell } from "./Shell.tsx";

// Pages that are not read first are loaded when they are needed.
const ListsPage = lazily(async () => (await import("../lists/ListsPage.tsx")).ListsPage);
const ListPage = lazily(async () => (await import("../lists/ListPage.tsx")).ListPage);
const ListMembersPage = lazily(async () => (await import("../lists/ListMembersPage.tsx")).ListMembersPage);
const MentionsPage = lazily(async () => (await import("../pages/MentionsPage.tsx")).MentionsPage);
const PostPage = lazily(async () => (await import("../pages/PostPage.tsx")).PostPage);
const ProfilePage = lazily(async () => (await import("../pages/ProfilePage.tsx")).ProfilePage);
const ProfileWithRepliesPage = lazily(async () => (await import("../pages/ProfilePage.tsx")).ProfileWithRepliesPage);
const LikersPage = lazily(async () => (await import("../pages/LikesPages.tsx")).LikersPage);
const QuotesPage = lazily(async () => (await import("../pages/QuotesPage.tsx")).QuotesPage);
const LikedPostsPage = lazily(async () => (await import("../pages/LikesPages.tsx")).LikedPostsPage);
const TagPage = lazily(async () => (await import("../pages/TagPage.tsx")).TagPage);
const SettingsPage = lazily(async () => (await import("../settings/SettingsPage.tsx")).SettingsPage);
const FindPage = lazily(async () => (await import("../pages/FindPage.tsx")).FindPage);
const FollowersPage = lazily(async () => (await import("../pages/PeoplePages.tsx")).FollowersPage);
const FollowersYouKnowPage = lazily(async () => (await import("../pages/PeoplePages.tsx")).FollowersYouKnowPage);
const CommonFollowersPage = lazily(async () => (await import("../pages/PeoplePages.tsx")).CommonFollowersPage);
const FollowingPage = lazily(async () => (await import("../pages/PeoplePages.tsx")).FollowingPage);
const NewestUsersPage = lazily(async () => (await import("../pages/PeoplePages.tsx")).NewestUsersPage);

export function App({ services }: { services: Services }) {
  const { session } = services;
  const epoch = useSyncExternalStore(session.subscribe, session.getEpoch);
  return (
    <ServicesContext value={services}>
      <RetwisProvider retwis={services}>
        {/* Nothing on the screen survives a change of session. */}
        <Router key={epoch} hook={useAppLocation}>
          <Shell>
            <Switch>
              <Route path="/" component={HomePage} />
              <Route path="/public" component={PublicPage} />
              <Route path="/public/people" component={NewestUsersPage} />
              <Route path="/find" component={FindPage} />
              <Route path="/mentions" component={MentionsPage} />
              <Route path="/lists" component={ListsPage} />
              <Route path="/lists/:id" component={ListPage} />
              <Route path="/lists/:id/members" component={ListMembersPage} />
              <Route path="/u/:username" component={ProfilePage} />
              <Route path="/u/:username/replies" component={ProfileWithRepliesPage} />
              <Route path="/u/:username/followers" component={FollowersPage} />
              <Route path="/u/:username/followers/known" component={FollowersYouKnowPage} />
              <Route path="/u/:username/followers/common" component={CommonFollowersPage} />
              <Route path="/u/:username/following" component={FollowingPage} />
              <Route path="/post/:id" component={PostPage} />
              <Route path="/post/:id/likes" component={LikersPage} />
              <Route path="/post/:id/quotes" component={QuotesPage} />
              <Route path="/tag/:name" component={TagPage} />
              <Route path="/likes" component={LikedPostsPage} />
              <Route path="/settings" component={SettingsPage} />
              <Route path="/login">
                <Redirect to="/" replace />
              </Route>
              <Route>
                <NotFoundPage />
              </Route>
            </Switch>
          </Shell>
        </Router>
      </RetwisProvider>
    </ServicesContext>
  );
}
