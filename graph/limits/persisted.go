package limits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// DocumentStore keeps documents that clients refer to by their SHA-256, in hexadecimal digits.
type DocumentStore interface {
	// Document fails with [retwis.ErrNotFound] if there is none.
	Document(ctx context.Context, hash string) (string, error)
	// StoreDocument stores a document for a holder of a budget, who has a share of the store.
	StoreDocument(ctx context.Context, holder ratelimit.Key, hash, text string) error
}

// Bounds of persisted documents. A longer document runs, and its client has to send it each time.
const (
	maxPersistedBytes = 16 << 10 // of one document
	maxCached         = 1024     // documents in this process
	maxCachedOfHolder = maxCached / 4
	renewInterval     = time.Minute // between two writes or renewals of the same document
	storeTimeout      = time.Second
	keptBytesPerPoint = 32 // of a document that is kept, or read from the store
)

// codeNotPersisted tells clients to send the document.
const codeNotPersisted = "PERSISTED_QUERY_NOT_FOUND"

const hashPrefix = "sha256:"

// Persisted lets clients refer to documents instead of sending them: by the hash of a
// document that was sent before (Apollo's protocol of automatic persisted queries), or by the id of a trusted one.
type Persisted struct {
	store   DocumentStore // nil keeps documents in this process only
	log     *slog.Logger
	trusted TrustedDocuments
	cache   *documentCache
}

// persistedDocument is a document that was found valid.
type persistedDocument struct {
	text string

	mu     sync.Mutex
	stored time.Time // when this process last wrote, read or renewed it in the store
}

// NewPersisted returns persisted documents. A nil store keeps documents in this process only. The exchanges with another one have shares of what
// Redis does.
func NewPersisted(store DocumentStore, shares *cost.Shares, trusted TrustedDocuments, log *slog.Logger) *Persisted {
	if store != nil {
		store = sharedStore{store, shares}
	}
	return &Persisted{store: store, trusted: trusted, log: log, cache: newDocumentCache(maxCached, maxCachedOfHolder)}
}

// sharedStore is a store whose exchanges with Redis wait like those of the operations of the client, and count as work of its network.
type sharedStore struct {
	DocumentStore
	shares *cost.Shares
}

// Document implements [DocumentStore].
func (s sharedStore) Document(ctx context.Context, hash string) (string, error) {
	return s.DocumentStore.Document(s.shares.Paid(ctx, ClientOf(ctx)), hash) //nolint:wrapcheck // of the store
}

// StoreDocument implements [DocumentStore].
func (s sharedStore) StoreDocument(ctx context.Context, holder ratelimit.Key, hash, text string) error {
	return s.DocumentStore.StoreDocument(s.shares.Paid(ctx, ClientOf(ctx)), holder, hash, text) //nolint:wrapcheck // of the store
}

// documentHolder returns the network of a client, for which the documents that it stores count: four users of one address could otherwise fill the store, so
// that all other clients have to send theirs again.
func documentHolder(ctx context.Context) ratelimit.Key { return ClientOf(ctx).NetworkKey() }

// Find finds the document of a request, unless the request contains it, and returns what that cost. It refuses documents
// that are not trusted, if only trusted ones may run.
func (p *Persisted) Find(ctx context.Context, params *graphql.RawParams) (points int, refused *gqlerror.Error) {
	points, refused = p.resolve(ctx, params)
	if refused == nil {
		refused = p.trusted.admit(params.Query)
	}
	return points, refused
}

func (p *Persisted) resolve(ctx context.Context, params *graphql.RawParams) (points int, refused *gqlerror.Error) {
	id, hasID, err := documentID(params)
	if err != nil {
		return 0, err
	}
	hash, hasHash, err := persistedHash(params)
	switch {
	case err != nil:
		return 0, err
	case hasID && (params.Query != "" || hasHash):
		return 0, badParams("send either a documentId or a query, not both")
	case hasID:
		return p.find(ctx, id, params, "unknown documentId")
	case !hasHash:
		return 0, nil
	case params.Query == "":
		return p.find(ctx, hash, params, "PersistedQueryNotFound")
	case hashOf(params.Query) != hash:
		return 0, badParams("sha256Hash is not the SHA-256 of the query")
	}
	return 0, nil
}

// Cached returns the document that a request names, if this process has it, else an empty string.
func (p *Persisted) Cached(params *graphql.RawParams) string {
	id, ok, err := documentID(params)
	if !ok && err == nil {
		id, _, err = persistedHash(params)
	}
	if err != nil {
		return ""
	}
	text, _ := p.kept(id)
	return text
}

// kept returns the document that this process has under an id: a trusted one, or else a persisted one with its record. It returns an empty string if there
// is none.
func (p *Persisted) kept(id string) (text string, persisted *persistedDocument) {
	if text, ok := p.trusted.find(id); ok {
		return text, nil
	}
	if hash, ok := parseHash(id); ok && !p.trusted.only {
		if persisted = p.cache.find(hash); persisted != nil {
			return persisted.text, persisted
		}
	}
	return "", nil
}

// find sets the document of a request: a trusted one by its id, any other by its hash.
func (p *Persisted) find(
	ctx context.Context, id string, params *graphql.RawParams, missing string,
) (points int, refused *gqlerror.Error) {
	hash, isHash := parseHash(id)
	if text, persisted := p.kept(id); text != "" {
		params.Query = text
		if persisted != nil {
			p.renew(ctx, hash, persisted)
		}
		return 0, nil
	}
	if isHash && !p.trusted.only {
		if text, ok := p.lookUp(ctx, hash); ok {
			params.Query = text
			return persistedCost(text), nil
		}
	}
	err := gqlerror.Errorf("%s", missing)
	errcode.Set(err, codeNotPersisted)
	return 0, err
}

// lookUp reads a document from the store.
func (p *Persisted) lookUp(ctx context.Context, hash string) (string, bool) {
	if p.store == nil {
		return "", false
	}
	holder := documentHolder(ctx)
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	text, err := p.store.Document(ctx, hash)
	if err != nil {
		if !errors.Is(err, retwis.ErrNotFound) {
			p.warn(ctx, "persisted documents: read failed", err)
		}
		return "", false // the client sends it
	}
	if hashOf(text) != hash {
		p.log.WarnContext(ctx, "persisted documents: stored text does not match its hash", "hash", hash)
		return "", false
	}
	p.cache.add(holder, hash, text).startRenewal(time.Now()) // the store has renewed it
	return text, true
}

// renew tells the store that a document of this process is in use: other processes, and this one after a restart, find it there.
func (p *Persisted) renew(ctx context.Context, hash string, document *persistedDocument) {
	if p.store == nil || !document.startRenewal(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := p.store.Document(ctx, hash)
	if errors.Is(err, retwis.ErrNotFound) {
		err = p.store.StoreDocument(ctx, documentHolder(ctx), hash, document.text)
	}
	if err != nil {
		p.warn(ctx, "persisted documents: renewal failed", err)
	}
}

// Keep persists the text of a request whose client sent its hash too. It takes what this costs first, and keeps nothing if
// that fails. Call it after the operation was found valid.
func (p *Persisted) Keep(ctx context.Context, params *graphql.RawParams, text string, take func(points int) error) {
	hash, ok, err := persistedHash(params)
	if !ok || err != nil || p.trusted.only || len(text) > maxPersistedBytes {
		return
	}
	holder := documentHolder(ctx)
	document := p.cache.find(hash)
	if document == nil {
		if take(persistedCost(text)) != nil {
			return
		}
		document = p.cache.add(holder, hash, text)
	}
	if p.store == nil || !document.startRenewal(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := p.store.StoreDocument(ctx, holder, hash, document.text); err != nil {
		p.warn(ctx, "persisted documents: write failed", err)
	}
}

// persistedCost returns what keeping a document, or reading it from the store, costs in points.
func persistedCost(text string) int { return cost.PerOperation + len(text)/keptBytesPerPoint }

// warn logs a failure, unless the client has disconnected.
func (p *Persisted) warn(ctx context.Context, event string, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		p.log.WarnContext(ctx, event, "err", err)
	}
}

// startRenewal reports whether the document should be written to the store or renewed there, and notes that it is. A client that sends
// a known document again does so because another process lacks it, or because it always does.
func (d *persistedDocument) startRenewal(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stored.IsZero() && now.Sub(d.stored) < renewInterval {
		return false
	}
	d.stored = now
	return true
}

// documentIDExtension is the extension of a request that carries its documentId.
const documentIDExtension = "documentId"

// documentID returns the id in the documentId extension of a request.
func documentID(params *graphql.RawParams) (id string, ok bool, refused *gqlerror.Error) {
	value, ok := params.Extensions[documentIDExtension]
	if !ok {
		return "", false, nil
	}
	id, isString := value.(string)
	if !isString || id == "" {
		return "", false, badParams("documentId must be a non-empty string")
	}
	return id, true, nil
}

// persistedHash returns the hash in the persistedQuery extension of a request.
func persistedHash(params *graphql.RawParams) (hash string, ok bool, refused *gqlerror.Error) {
	value, ok := params.Extensions["persistedQuery"]
	if !ok || value == nil {
		return "", false, nil
	}
	fields, _ := value.(map[string]any)
	if version, _ := fields["version"].(json.Number); version != "1" {
		return "", false, badParams("the extension persistedQuery must have version 1")
	}
	hash, ok = fields["sha256Hash"].(string)
	if ok {
		_, ok = parseHash(hash)
	}
	if !ok {
		return "", false, badParams("the extension persistedQuery must have a sha256Hash of 64 lower-case hexadecimal digits")
	}
	return hash, true, nil
}

// parseHash returns the SHA-256 in an id, which may have the prefix sha256:.
func parseHash(id string) (string, bool) {
	hash := strings.TrimPrefix(id, hashPrefix)
	if len(hash) != hex.EncodedLen(sha256.Size) {
		return "", false
	}
	for i := range len(hash) {
		if c := hash[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return hash, true
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func badParams(message string) *gqlerror.Error {
	err := gqlerror.Errorf("%s", message)
	errcode.Set(err, string(retwis.CodeBadUserInput))
	return err
}
