let beginning = "";

/** Sets what the names of those who register begin with. */
export function namesBeginWith(text: string): void {
  beginning = text;
}

/** The username for somebody in this attempt at a test. */
export function nameOf(name: string): string {
  return beginning + name;
}

/** Somebody who uses the API without a browser. */
export class Person {
  readonly username: string;
  private readonly url: string;
  private readonly token: string;
  readonly id: string;

  private constructor(url: string, username: string, token: string, id: string) {
    this.url = url;
    this.username = username;
    this.token = token;
    this.id = id;
  }

  static readonly password = "correct horse battery";

  static async register(url: string, name: string, displayName = name): Promise<Person> {
    const username = nameOf(name);
    const { register } = await call<{ register: { token: string; user: { id: string }; userErrors: unknown[] } }>(
      url,
      `mutation ($input: RegisterInput!) { register(input: $input) { token user { id } userErrors { message } } }`,
      { input: { username, password: Person.password, displayName } },
    );
    if (register.userErrors.length > 0) throw new Error(JSON.stringify(register.userErrors));
    return new Person(url, username, register.token, register.user.id);
  }

  /** Posts a text and returns the post's id. */
  post(text: string): Promise<string> {
    return this.create({ text });
  }

  /** Answers a post and returns the id of the reply. */
  reply(inReplyToId: string, text: string): Promise<string> {
    return this.create({ text, inReplyToId });
  }

  /** Quotes a post and returns the id of the quote. */
  quote(quotedPostId: string, text: string): Promise<string> {
    return this.create({ text, quotedPostId });
  }

  private async create(input: object): Promise<string> {
    const { createPost } = await this.run<{ createPost: { edge: { node: { id: string } } } }>(
      `mutation ($input: CreatePostInput!) { createPost(input: $input) { edge { node { id } } userErrors { message } } }`,
      { input },
    );
    return createPost.edge.node.id;
  }

  async like(postId: string): Promise<void> {
    await this.run(`mutation ($postId: ID!) { likePost(input: { postId: $postId }) { userErrors { message } } }`, { postId });
  }

  async repost(postId: string): Promise<void> {
    await this.run(`mutation ($postId: ID!) { repostPost(input: { postId: $postId }) { userErrors { message } } }`, { postId });
  }

  async undoRepost(postId: string): Promise<void> {
    await this.run(`mutation ($postId: ID!) { undoRepost(input: { postId: $postId }) { userErrors { message } } }`, { postId });
  }

  /** How many reposts a post has. */
  async repostCount(postId: string): Promise<number> {
    const { node } = await this.run<{ node: { repostCount: number } }>(`query ($postId: ID!) { node(id: $postId) { ... on Post { repostCount } } }`, { postId });
    return node.repostCount;
  }

  /** How many replies a post has. */
  async replyCount(postId: string): Promise<number> {
    const { thread } = await this.run<{ thread: { replyCount: number } | null }>(`query ($postId: ID!) { thread(postId: $postId) { replyCount } }`, { postId });
    return thread?.replyCount ?? 0;
  }

  /** How many quotes a post has. */
  async quoteCount(postId: string): Promise<number> {
    const { node } = await this.run<{ node: { quoteCount: number } }>(`query ($postId: ID!) { node(id: $postId) { ... on Post { quoteCount } } }`, { postId });
    return node.quoteCount;
  }

  /** Posts many texts, one after the other. */
  async postMany(count: number, text: (i: number) => string): Promise<string[]> {
    const ids = [];
    for (let i = 1; i <= count; i++) ids.push(await this.post(text(i)));
    return ids;
  }

  async delete(postId: string): Promise<void> {
    await this.run(`mutation ($postId: ID!) { deletePost(input: { postId: $postId }) { deletedPostId } }`, { postId });
  }

  async follow(other: Person): Promise<void> {
    await this.run(`mutation ($userId: ID!) { followUser(input: { userId: $userId }) { user { id } } }`, { userId: other.id });
  }

  /** Makes a list with people on it and returns its id. */
  async list(name: string, ...members: Person[]): Promise<string> {
    const { createList } = await this.run<{ createList: { list: { id: string } } }>(
      `mutation ($name: String!) { createList(input: { name: $name }) { list { id } userErrors { message } } }`,
      { name },
    );
    const listId = createList.list.id;
    for (const { id } of members) await this.putOnList(listId, id);
    return listId;
  }

  async putOnList(listId: string, userId: string): Promise<void> {
    await this.run(`mutation ($listId: ID!, $userId: ID!) { addListMember(input: { listId: $listId, userId: $userId }) { list { id } } }`, {
      listId,
      userId,
    });
  }

  /** Whether the session that began with the account goes on. */
  async loggedIn(): Promise<boolean> {
    const { viewer } = await this.run<{ viewer: object | null }>(`{ viewer { id } }`, {}).catch(() => ({ viewer: null }));
    return viewer !== null;
  }

  async tellAboutThemselves(bio: string): Promise<void> {
    await this.run(`mutation ($bio: String!) { updateProfile(input: { bio: $bio }) { userErrors { message } } }`, { bio });
  }

  async logoutEverywhere(): Promise<void> {
    await this.run(`mutation { logoutEverywhere { userErrors { message } } }`, {});
  }

  /** How many posts the person's home timeline has, up to 100. */
  async homeLength(): Promise<number> {
    const { viewer } = await this.run<{ viewer: { homeTimeline: { posts: { edges: unknown[] } } } }>(
      `{ viewer { homeTimeline { posts(first: 100) { edges { cursor } } } } }`,
      {},
    );
    return viewer.homeTimeline.posts.edges.length;
  }

  /** How many posts of the person's home timeline are unread, up to 99. */
  async unreadInHome(): Promise<number> {
    const { viewer } = await this.run<{ viewer: { homeTimeline: { unreadCount: number } } }>(`{ viewer { homeTimeline { unreadCount } } }`, {});
    return viewer.homeTimeline.unreadCount;
  }

  /** The points that are left of the budget of a person, or of that of the network. Asking costs some. */
  points(): Promise<number> {
    return Person.points(this.url, this.token);
  }

  static async points(url: string, token?: string): Promise<number> {
    const { rateLimit } = await call<{ rateLimit: { remaining: number } }>(url, `{ rateLimit { remaining } }`, {}, token);
    return rateLimit.remaining;
  }

  private run<T>(query: string, variables: object): Promise<T> {
    return call<T>(this.url, query, variables, this.token);
  }
}

async function call<T>(url: string, query: string, variables: object, token?: string): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(30_000),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}
