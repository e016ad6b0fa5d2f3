package graph

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
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// Documents keeps documents that clients name by their SHA-256, in hexadecimal digits.
type Documents interface {
	// Document fails with [retwis.ErrNotFound] where there is none.
	Document(ctx context.Context, hash string) (string, error)
	KeepDocument(ctx context.Context, hash, text string) error
}

// Bounds of what is kept. Longer documents are run, and have to be sent each time.
const (
	maxKeptDocument = 16 << 10    // bytes
	keptHere        = 1024        // documents
	keptAgain       = time.Minute // until one that is sent again is written again
	documentsTime   = time.Second // for the store to answer
)

// codeNotPersisted tells clients to send the document.
const codeNotPersisted = "PERSISTED_QUERY_NOT_FOUND"

// persisted lets clients name documents instead of sending them: by the hash of one that
// was sent before, which is Apollo's protocol of automatic persisted queries, or by the id
// of one that the service was given beforehand.
type persisted struct {
	store   Documents // nil keeps documents in this process only
	log     *slog.Logger
	trusted trustedDocuments
	recent  graphql.Cache[*keptDocument]
}

// keptDocument is a document that was found valid.
type keptDocument struct {
	text string

	mu      sync.Mutex
	written time.Time // to the store, from here
}

func newPersisted(options Options) *persisted {
	return &persisted{store: options.Documents, log: options.Log, recent: lru.New[*keptDocument](keptHere)}
}

func (*persisted) ExtensionName() string                   { return "PersistedDocuments" }
func (*persisted) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters finds the document that a request names.
func (p *persisted) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	if err := p.resolve(ctx, params); err != nil {
		return err
	}
	return p.trusted.admit(params.Query)
}

func (p *persisted) resolve(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	id, hasID, err := documentID(params)
	if err != nil {
		return err
	}
	hash, hasHash, err := persistedHash(params)
	switch {
	case err != nil:
		return err
	case hasID && (params.Query != "" || hasHash):
		return badParams("send either a documentId or a query, not both")
	case hasID:
		return p.find(ctx, id, params, "there is no document with this documentId")
	case !hasHash:
		return nil
	case params.Query == "":
		return p.find(ctx, hash, params, "PersistedQueryNotFound")
	case hashOf(params.Query) != hash:
		return badParams("sha256Hash is not the SHA-256 of the query")
	}
	return nil
}

// find looks a document up: among the trusted ones by its id, else by its hash.
func (p *persisted) find(ctx context.Context, id string, params *graphql.RawParams, missing string) *gqlerror.Error {
	if text, ok := p.trusted.find(id); ok {
		params.Query = text
		return nil
	}
	if hash, ok := hashIn(id); ok && !p.trusted.only {
		if text, ok := p.lookUp(ctx, hash); ok {
			params.Query = text
			return nil
		}
	}
	err := gqlerror.Errorf("%s", missing)
	errcode.Set(err, codeNotPersisted)
	return err
}

func (p *persisted) lookUp(ctx context.Context, hash string) (string, bool) {
	if kept, ok := p.recent.Get(ctx, hash); ok {
		return kept.text, true
	}
	if p.store == nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, documentsTime)
	defer cancel()
	text, err := p.store.Document(ctx, hash)
	if err != nil {
		if !errors.Is(err, retwis.ErrNotFound) {
			p.warn(ctx, "persisted documents cannot be read", err)
		}
		return "", false // the client sends it
	}
	if hashOf(text) != hash {
		p.log.WarnContext(ctx, "a persisted document is not what its hash says", "hash", hash)
		return "", false
	}
	p.recent.Add(ctx, hash, &keptDocument{text: text})
	return text, true
}

// keep keeps the document of a request that has been found valid, where the client gave
// its hash to use it by.
func (p *persisted) keep(ctx context.Context, params *graphql.RawParams) {
	hash, ok, err := persistedHash(params)
	if !ok || err != nil || p.trusted.only || len(params.Query) > maxKeptDocument {
		return
	}
	kept, known := p.recent.Get(ctx, hash)
	if !known {
		kept = &keptDocument{text: params.Query}
		p.recent.Add(ctx, hash, kept)
	}
	if p.store == nil || !kept.due(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, documentsTime)
	defer cancel()
	if err := p.store.KeepDocument(ctx, hash, kept.text); err != nil {
		p.warn(ctx, "a persisted document could not be written", err)
	}
}

// warn logs what failed, unless it did since the client went away.
func (p *persisted) warn(ctx context.Context, what string, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		p.log.WarnContext(ctx, what, "err", err)
	}
}

// due reports whether the document should be written to the store. A client that sends it
// may do so because another process does not have it; or it sends it always.
func (k *keptDocument) due(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.written.IsZero() && now.Sub(k.written) < keptAgain {
		return false
	}
	k.written = now
	return true
}

// documentID returns the id that a request names its document by, if it does.
func documentID(params *graphql.RawParams) (id string, ok bool, refused *gqlerror.Error) {
	value, ok := params.Extensions[retwis.DocumentID]
	if !ok {
		return "", false, nil
	}
	id, isString := value.(string)
	if !isString || id == "" {
		return "", false, badParams("documentId has to be a string that names a document")
	}
	return id, true, nil
}

// persistedHash returns the hash that a request names its document by, if it does.
func persistedHash(params *graphql.RawParams) (hash string, ok bool, refused *gqlerror.Error) {
	value, ok := params.Extensions["persistedQuery"]
	if !ok || value == nil {
		return "", false, nil
	}
	fields, _ := value.(map[string]any)
	if version, _ := fields["version"].(json.Number); version != "1" {
		return "", false, badParams("the extension persistedQuery has to be of version 1")
	}
	hash, ok = fields["sha256Hash"].(string)
	if ok {
		_, ok = hashIn(hash)
	}
	if !ok {
		return "", false, badParams("the extension persistedQuery needs a sha256Hash of 64 hexadecimal digits, in lower case")
	}
	return hash, true, nil
}

// hashIn returns the SHA-256 that an id is, with the prefix sha256: or without it.
func hashIn(id string) (string, bool) {
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

const hashPrefix = "sha256:"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func badParams(message string) *gqlerror.Error {
	err := gqlerror.Errorf("%s", message)
	errcode.Set(err, string(retwis.CodeBadUserInput))
	return err
}
