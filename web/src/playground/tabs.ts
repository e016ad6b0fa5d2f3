/** What a new tab begins with. */
export const welcome = `# Ctrl Space completes, Ctrl Enter runs, and the book at the left opens the documentation.
# Log in at / first, and you act as yourself here.
{
  viewer {
    user {
      username
    }
  }
}
`;

/** The tabs of a first visit: a query, a mutation and a subscription. */
export const starterTabs = [
  {
    query: `# What everybody posts, newest first. Go on with after: pageInfo.endCursor.
query Everybody($after: Cursor) {
  publicTimeline {
    id
    posts(first: 10, after: $after) {
      edges {
        node {
          id
          text
          createdAt
          author {
            username
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      liveCursor
    }
  }
}
`,
  },
  {
    query: `# Needs a login: log in at /, or run the mutation login here.
mutation Post($input: CreatePostInput!) {
  createPost(input: $input) {
    edge {
      cursor
      node {
        id
        text
      }
    }
    userErrors {
      code
      field
      message
    }
  }
}
`,
    variables: '{\n  "input": {\n    "text": "Hello from the playground"\n  }\n}',
  },
  {
    query: `# Your home timeline as it happens. Run it, then post in another tab.
# Logged out, give the id of a public timeline as timelineId.
subscription Watch($timelineId: ID, $after: Cursor) {
  timelineEvents(timelineId: $timelineId, after: $after) {
    __typename
    cursor
    ... on PostAdded {
      edge {
        node {
          id
          text
          author {
            username
          }
        }
      }
    }
    ... on PostRemoved {
      postId
    }
    ... on TimelineCaughtUp {
      replayed
    }
    ... on TimelineReset {
      reason
    }
  }
}
`,
    variables: "{}",
  },
];
