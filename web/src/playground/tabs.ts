/** What a new tab begins with. */
export const welcome = `# Ctrl Space completes, Ctrl Enter runs.
# The book opens the documentation.
# Log in at / to act as yourself here.
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
    query: `# The posts of all users, newest first.
# Next page: after = pageInfo.endCursor
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
    query: `# Log in first: at /, or with the
# mutation login.
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
    query: `# Your home timeline, live. Run it, then
# post in another tab. Logged out, pass
# the id of a public timeline.
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
