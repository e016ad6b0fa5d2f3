import { useI18n } from "../i18n/I18n.tsx";
import { earlyLine, earlyPart, earlyPost, earlyRows, type EarlyPart } from "../early/elements.ts";
import { avatarClass } from "../people/Avatar.tsx";
import { ComposerSpace } from "../posts/ComposerSpace.tsx";
import { actionClass, actionsClass, besideAvatar, contextClass, PostLayout, ReasonLine, reasonLinkClass } from "../posts/PostLayout.tsx";
import { QuoteLayout, quoteLinkClass } from "../posts/QuoteLayout.tsx";
import { Frame, mainClass } from "../ui/Frame.tsx";
import { AtIcon, FindIcon, GearIcon, HeartIcon, HomeIcon, ListIcon, PeopleIcon, PersonIcon, ReplyIcon, RepostIcon } from "../ui/icons.tsx";
import { navigationBar, navigationItem } from "../ui/navigationItem.ts";
import { LastVisitLine } from "../timeline/LastVisitLine.tsx";
import { SkeletonRows } from "../ui/states.tsx";

/**
 * What the document of the app shows until the app runs, in the same layout. The attributes
 * that index.html sets on the root element choose what fits the page and the visitor.
 */
export function AppSkeleton() {
  const { t } = useI18n();
  const ofViewer = `${navigationItem} [[data-visitor]_&]:hidden`;
  return (
    <Frame
      brand={(props) => <a href="/" {...props} />}
      navigation={
        <nav aria-label={t.nav.main} className={navigationBar}>
          <a href="/" className={navigationItem}>
            <HomeIcon />
            <span className="[[data-visitor]_&]:hidden">{t.nav.home}</span>
            <span className="hidden [[data-visitor]_&]:inline">{t.nav.welcome}</span>
          </a>
          <a href="/public" className={navigationItem}>
            <PeopleIcon />
            {t.nav.everyone}
          </a>
          <a href="/find" className={navigationItem}>
            <FindIcon />
            {t.nav.find}
          </a>
          <a href="/mentions" className={ofViewer}>
            <AtIcon />
            {t.nav.mentions}
          </a>
          <a href="/lists" className={ofViewer}>
            <ListIcon />
            {t.nav.lists}
          </a>
          <span className={ofViewer}>
            <PersonIcon />
            {t.nav.profile}
          </span>
          <a href="/settings" className={`${ofViewer} max-sm:hidden`}>
            <GearIcon />
            {t.nav.settings}
          </a>
        </nav>
      }
      controls={<div className="h-6 sm:h-17" />}
    >
      <main id="main" tabIndex={-1} className={mainClass}>
        <div className="hidden [[data-page=home]_&]:block">
          <Heading>{t.home.title}</Heading>
          <ComposerSpace />
        </div>
        <div className="hidden [[data-page=feed]_&]:block">
          <Heading>{t.everyone.title}</Heading>
          <div className="h-11.5 border-b border-line" />
        </div>
        <div {...{ [earlyRows]: "" }}>
          <SkeletonRows rows={6} />
        </div>
        <EarlyPost />
        <template {...{ [earlyLine]: "" }}>
          <LastVisitLine />
        </template>
      </main>
      <div className="hidden w-72 shrink-0 lg:block" />
    </Frame>
  );
}

function Heading({ children }: { children: string }) {
  return <p className="px-4 pt-5 pb-3 font-serif text-2xl font-semibold tracking-tight sm:px-6">{children}</p>;
}

/** A post without its content, and with all lines that may say whose repost it is or what it answers. The early script fills it in. */
function EarlyPost() {
  const { t } = useI18n();
  return (
    <template {...{ [earlyPost]: "" }}>
      <PostLayout
        reason={
          <>
            <ReasonLine {...part("reposted")}>
              {t.reposts.by(
                <a key="user" className={reasonLinkClass}>
                  <bdi />
                </a>,
              )}
            </ReasonLine>
            <ReasonLine {...part("repostedByViewer")}>
              <a className={reasonLinkClass}>{t.reposts.byYou}</a>
            </ReasonLine>
          </>
        }
        avatar={<span aria-hidden="true" className={avatarClass(false)} {...part("avatar")} />}
        author={(className) => (
          <a className={className} {...part("author")}>
            <bdi {...part("name")} />
          </a>
        )}
        username={<span {...part("username")} />}
        context={
          <>
            <p className={contextClass} {...part("answered")}>
              {t.post.replyingTo(<a key="user" />)}
            </p>
            <p className={contextClass} {...part("continued")}>
              <a>{t.post.continued}</a>
            </p>
            <p className={contextClass} {...part("deleted")}>
              <a>{t.post.replyingToDeleted}</a>
            </p>
          </>
        }
        quote={
          <>
            <QuoteLayout
              {...part("quoted")}
              author={<a className={quoteLinkClass} {...part("quotedAuthor")} />}
              username={<span {...part("quotedUsername")} />}
              text={<span {...part("quotedText")} />}
            />
            <QuoteLayout {...part("quotedDeleted")}>{t.quotes.deleted}</QuoteLayout>
          </>
        }
        text={<p dir="auto" className={`post-text ${besideAvatar}`} {...part("text")} />}
        actions={
          <div className={actionsClass}>
            <a className={actionClass} {...part("reply")}>
              <ReplyIcon />
            </a>
            <span className={actionClass} {...part("reposts")}>
              <RepostIcon />
            </span>
            <span className={actionClass} {...part("likes")}>
              <HeartIcon />
            </span>
          </div>
        }
      />
    </template>
  );
}

function part(name: EarlyPart): object {
  return { [earlyPart]: name };
}
