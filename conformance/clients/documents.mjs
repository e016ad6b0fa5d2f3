// What the apps of Apollo Client and urql ask.

const page = /* GraphQL */ `
  fragment Page on Timeline {
    id
    posts(first: $first, after: $after) {
      edges {
        cursor
        entryId
        reason {
          user {
            id
            username
          }
        }
        node {
          id
          text
          author {
            id
            username
          }
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
      liveCursor
    }
  }
`;
const profile = /* GraphQL */ `
  query Profile($username: String!, $first: Int!, $after: Cursor) {
    user(username: $username) {
      id
      followerCount
      viewerFollows
      timeline {
        id
        ...Page
      }
    }
  }
  ${page}
`;
const home = /* GraphQL */ `
  query Home($first: Int!, $after: Cursor) {
    viewer {
      id
      homeTimeline {
        id
        marker
        unreadCount
        ...Page
      }
    }
  }
  ${page}
`;
const login = /* GraphQL */ `
  mutation Login($input: LoginInput!) {
    login(input: $input) {
      token
      user {
        id
      }
      userErrors {
        code
      }
    }
  }
`;
const follow = /* GraphQL */ `
  mutation Follow($input: FollowUserInput!) {
    followUser(input: $input) {
      user {
        id
        followerCount
        viewerFollows
      }
      userErrors {
        code
      }
    }
  }
`;
const create = /* GraphQL */ `
  mutation Create($input: CreatePostInput!) {
    createPost(input: $input) {
      edge {
        cursor
        entryId
        reason {
          user {
            id
            username
          }
        }
        node {
          id
          text
          author {
            id
            username
          }
        }
      }
      userErrors {
        code
      }
    }
  }
`;
const like = /* GraphQL */ `
  mutation Like($input: LikePostInput!) {
    likePost(input: $input) {
      post {
        id
        likeCount
        viewerHasLiked
      }
      userErrors {
        code
      }
    }
  }
`;
const repost = /* GraphQL */ `
  mutation Repost($input: RepostPostInput!) {
    repostPost(input: $input) {
      post {
        id
        viewerHasReposted
      }
      userErrors {
        code
      }
    }
  }
`;
const mark = /* GraphQL */ `
  mutation Mark($input: MarkTimelineReadInput!) {
    markTimelineRead(input: $input) {
      timeline {
        id
        marker
        unreadCount
      }
      userErrors {
        code
      }
    }
  }
`;
const unread = /* GraphQL */ `
  query Unread($timelineId: ID!) {
    node(id: $timelineId) {
      id
      ... on Timeline {
        marker
        unreadCount
      }
    }
  }
`;
const watch = /* GraphQL */ `
  subscription Watch($timelineId: ID!, $after: Cursor) {
    timelineEvents(timelineId: $timelineId, after: $after) {
      __typename
      cursor
      ... on PostAdded {
        edge {
          cursor
          entryId
          reason {
            user {
              id
              username
            }
          }
          node {
            id
            text
            author {
              id
              username
            }
          }
        }
      }
      ... on PostRemoved {
        postId
        entryId
      }
      ... on TimelineMarkerMoved {
        timeline {
          id
          marker
          unreadCount
        }
      }
      ... on TimelineCaughtUp {
        replayed
        marker
      }
      ... on TimelineReset {
        reason
      }
    }
  }
`;

const thread = /* GraphQL */ `
  query Thread($postId: ID!, $first: Int!, $after: Cursor) {
    thread(postId: $postId) {
      postId
      post {
        id
        likeCount
        viewerHasLiked
        viewerHasReposted
        quotedPost {
          postId
          unavailable
          post {
            id
            text
          }
        }
      }
      replyCount
      ancestors {
        postId
        unavailable
        post {
          id
          text
        }
      }
      replies(first: $first, after: $after) {
        edges {
          cursor
          node {
            id
            text
            author {
              id
              username
            }
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
`;

const documents = { create, follow, home, like, login, mark, profile, repost, thread, unread, watch };

/** parsed returns the documents as a client's own `gql` makes them. */
export function parsed(gql) {
  return Object.fromEntries(Object.entries(documents).map(([name, text]) => [name, gql(text)]));
}

/** textOf returns what an edge shows: the text of a post, and who reposted it if it is there by a repost. */
export function textOf({ node, reason }) {
  return reason ? `${reason.user.username} reposted ${node.text}` : node.text;
}

/** quotedBy returns the text of the post that a post quotes, or why it cannot be shown, or null if it quotes none. */
export function quotedBy({ quotedPost }) {
  return quotedPost && (quotedPost.post?.text ?? quotedPost.unavailable);
}
