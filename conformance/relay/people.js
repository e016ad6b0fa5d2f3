// What a Relay app says about people and lists: every connection besides those of posts.
import { graphql } from 'relay-runtime';

graphql`
  mutation peopleLoginMutation($input: LoginInput!) {
    login(input: $input) {
      token
      user {
        id
        username
      }
      userErrors {
        code
        message
      }
    }
  }
`;

graphql`
  mutation peopleFollowMutation($input: FollowUserInput!) {
    followUser(input: $input) {
      user {
        id
        viewerFollows
        followerCount
      }
      viewer {
        id
        user {
          id
          followingCount
        }
      }
      userErrors {
        code
      }
    }
  }
`;

graphql`
  mutation peopleCreateListMutation($input: CreateListInput!, $connections: [ID!]!) {
    createList(input: $input) {
      list @prependNode(connections: $connections, edgeTypeName: "ListEdge") {
        id
        name
        ...people_members
      }
      userErrors {
        code
      }
    }
  }
`;

graphql`
  mutation peopleDeleteListMutation($input: DeleteListInput!, $connections: [ID!]!) {
    deleteList(input: $input) {
      deletedListId @deleteEdge(connections: $connections) @deleteRecord
      userErrors {
        code
      }
    }
  }
`;

graphql`
  query peopleQuery($username: String!, $with: ID!, $prefix: String!) {
    user(username: $username) {
      ...people_followers
      ...people_following
      ...people_common @arguments(with: $with)
      ...people_known
    }
    viewer {
      ...people_lists
    }
    ...people_newest
    ...people_found @arguments(prefix: $prefix)
  }
`;

graphql`
  fragment people_followers on User
  @refetchable(queryName: "peopleFollowersPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    followers(first: $count, after: $cursor) @connection(key: "people_followers") {
      totalCount
      edges {
        followedAt
        node {
          id
          username
        }
      }
    }
  }
`;

graphql`
  fragment people_following on User
  @refetchable(queryName: "peopleFollowingPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    following(last: $count, before: $cursor) @connection(key: "people_following") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  fragment people_common on User
  @refetchable(queryName: "peopleCommonPageQuery")
  @argumentDefinitions(
    with: { type: "ID!" }
    count: { type: "Int", defaultValue: 20 }
    cursor: { type: "Cursor" }
  ) {
    commonFollowers(with: $with, first: $count, after: $cursor) @connection(key: "people_commonFollowers") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  fragment people_known on User
  @refetchable(queryName: "peopleKnownPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    followersYouKnow(first: $count, after: $cursor) @connection(key: "people_followersYouKnow") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  fragment people_newest on Query
  @refetchable(queryName: "peopleNewestPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    newestUsers(first: $count, after: $cursor) @connection(key: "people_newestUsers") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  fragment people_found on Query
  @refetchable(queryName: "peopleFoundPageQuery")
  @argumentDefinitions(
    prefix: { type: "String!" }
    count: { type: "Int", defaultValue: 20 }
    cursor: { type: "Cursor" }
  ) {
    searchUsers(prefix: $prefix, first: $count, after: $cursor) @connection(key: "people_searchUsers") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  fragment people_lists on Viewer
  @refetchable(queryName: "peopleListsPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    lists(first: $count, after: $cursor) @connection(key: "people_lists") {
      edges {
        node {
          id
          name
          ...people_members
        }
      }
    }
  }
`;

graphql`
  fragment people_members on List
  @refetchable(queryName: "peopleMembersPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "Cursor" }) {
    members(first: $count, after: $cursor) @connection(key: "people_members") {
      edges {
        node {
          id
        }
      }
    }
    timeline {
      ...feed_timeline
    }
  }
`;
