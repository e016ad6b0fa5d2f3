package page

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// rawPages serves the home page without GraphQL: it reads the session, the list, the posts and their
// authors as the API does, and encodes them with encoding/json.
type rawPages struct {
	db    *store.Store
	redis *redis.Client
	keys  map[string]string // by the key without its hash tag, like home:1025
}

func newRawPages(ctx context.Context, redisURL string, db *store.Store) (*rawPages, error) {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, err
	}
	options.PoolSize = 64
	p := &rawPages{db: db, redis: redis.NewClient(options), keys: map[string]string{}}
	keys := p.redis.Scan(ctx, 0, "", 10_000).Iterator()
	for keys.Next(ctx) {
		_, rest, _ := strings.Cut(keys.Val(), "}:")
		p.keys[rest] = keys.Val()
	}
	return p, keys.Err()
}

type rawEdge struct {
	Cursor string  `json:"cursor"`
	Node   rawPost `json:"node"`
}

type rawPost struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"createdAt"`
	Author    rawUser   `json:"author"`
}

type rawUser struct {
	ID          string `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"displayName"`
}

func (p *rawPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Query string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	edges, err := p.read(r.Context(), bearer(r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(map[string]any{"data": map[string]any{"edges": edges}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func (p *rawPages) read(ctx context.Context, token string) ([]rawEdge, error) {
	key, err := auth.ParseToken(token)
	if err != nil {
		return nil, err
	}
	session, err := p.db.Sessions.Session(ctx, key)
	if err != nil {
		return nil, err
	}
	ids, err := p.redis.LRange(ctx, p.keys["home:"+session.User.String()], 0, 19).Result()
	if err != nil {
		return nil, err
	}
	posts, err := p.rows(ctx, "post:", ids, "author", "text")
	if err != nil {
		return nil, err
	}
	edges := make([]rawEdge, len(ids))
	var authors []string
	index := map[string]int{}
	for i, id := range ids {
		author, text := posts[i][0], posts[i][1]
		if _, ok := index[author]; !ok {
			index[author] = len(authors)
			authors = append(authors, author)
		}
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, err
		}
		edges[i] = rawEdge{
			Cursor: base64.RawURLEncoding.EncodeToString([]byte(id)),
			Node: rawPost{
				ID: base64.RawURLEncoding.EncodeToString([]byte("Post:" + id)), Text: text,
				CreatedAt: retwis.PostID(n).CreatedAt(),
				Author:    rawUser{ID: author},
			},
		}
	}
	users, err := p.rows(ctx, "user:", authors, "name", "display")
	if err != nil {
		return nil, err
	}
	for i := range edges {
		author := &edges[i].Node.Author
		user := users[index[author.ID]]
		author.Username, author.DisplayName = user[0], user[1]
		author.ID = base64.RawURLEncoding.EncodeToString([]byte("User:" + author.ID))
	}
	return edges, nil
}

// rows reads two fields of each hash.
func (p *rawPages) rows(ctx context.Context, prefix string, ids []string, fields ...string) ([][2]string, error) {
	pipe := p.redis.Pipeline()
	replies := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = pipe.HMGet(ctx, p.keys[prefix+id], fields...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	rows := make([][2]string, len(ids))
	for i, reply := range replies {
		values := reply.Val()
		first, ok := values[0].(string)
		second, also := values[1].(string)
		if !ok || !also {
			return nil, errors.Join(fmt.Errorf("%s%s is incomplete", prefix, ids[i]), reply.Err())
		}
		rows[i] = [2]string{first, second}
	}
	return rows, nil
}
