// What a Relay app says about a timeline, for relay-compiler to read.
import { graphql } from 'relay-runtime';

graphql`
  query feedProfileQuery($username: String!, $count: Int!) {
    user(username: $username) {
      id
      username
      followerCount
      viewerFollows
      timeline {
        id
        ...feed_timeline @arguments(count: $count)
      }
    }
  }
`;

graphql`
  query feedHomeQuery($count: Int!) {
    viewer {
      id
      homeTimeline {
        id
        ...feed_unread
        ...feed_timeline @arguments(count: $count)
      }
    }
  }
`;

graphql`
  fragment feed_timeline on Timeline
  @refetchable(queryName: "feedPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    id
    posts(first: $count, after: $cursor) @connection(key: "feed_posts") {
      __id
      liveCursor
      edges {
        entryId
        reason {
          user {
            id
            username
          }
        }
        node {
          id
          ...feed_post
        }
      }
    }
  }
`;

graphql`
  fragment feed_newer on Timeline
  @refetchable(queryName: "feedNewerQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    posts(last: $count, before: $cursor) @connection(key: "feed_newer_posts") {
      edges {
        node {
          ...feed_post
        }
      }
    }
  }
`;

graphql`
  fragment feed_post on Post {
    id
    text
    createdAt
    author {
      id
      username
    }
    mentions {
      id
      username
    }
  }
`;

graphql`
  query feedThreadQuery($postId: ID!, $count: Int!) {
    thread(postId: $postId) {
      ancestors {
        postId
        unavailable
        post {
          id
          ...feed_post
        }
      }
      post {
        id
        ...feed_replies @arguments(count: $count)
      }
    }
  }
`;

graphql`
  fragment feed_replies on Post
  @refetchable(queryName: "feedRepliesPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }, order: { type: "ReplyOrder", defaultValue: OLDEST }) {
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
    replyCount
    replies(first: $count, after: $cursor, orderBy: $order) @connection(key: "feed_replies") {
      __id
      edges {
        node {
          id
          ...feed_post
        }
      }
    }
  }
`;

graphql`
  mutation feedPostMutation($input: CreatePostInput!, $connections: [ID!]!) {
    createPost(input: $input) {
      edge @prependEdge(connections: $connections) {
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
          ...feed_post
        }
      }
      userErrors {
        code
        field
        message
      }
    }
  }
`;

graphql`
  mutation feedLikeMutation($input: LikePostInput!) {
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

graphql`
  mutation feedRepostMutation($input: RepostPostInput!) {
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

graphql`
  mutation feedDeleteMutation($input: DeletePostInput!, $connections: [ID!]!) {
    deletePost(input: $input) {
      deletedPostId @deleteEdge(connections: $connections) @deleteRecord
      userErrors {
        code
      }
    }
  }
`;

graphql`
  fragment feed_unread on Timeline @refetchable(queryName: "feedUnreadQuery") {
    marker
    unreadCount
  }
`;

graphql`
  mutation feedMarkMutation($input: MarkTimelineReadInput!) {
    markTimelineRead(input: $input) {
      timeline {
        ...feed_unread
      }
      userErrors {
        code
      }
    }
  }
`;

graphql`
  subscription feedEventsSubscription($timelineId: ID!, $after: Cursor) {
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
            ...feed_post
          }
        }
      }
      ... on PostRemoved {
        postId
        entryId
      }
      ... on TimelineMarkerMoved {
        timeline {
          ...feed_unread
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
