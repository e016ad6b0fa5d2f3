package graph

import (
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/exec"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// retainedKey is the key of the bytes that the values of a request take, in the stats of its operation.
const retainedKey = "retained"

// retained counts what operations keep in memory while they wait and run: thousands may wait for their turns, each with variables of 256 KB or a
// document of its own. A document counts once, however many operations it has: for the client of the first one that waits.
type retained struct {
	shares *cost.Shares

	mu        sync.Mutex
	documents map[*ast.QueryDocument]*retainedDocument
}

type retainedDocument struct {
	operations int
	release    func()
}

func newRetained(shares *cost.Shares) *retained {
	return &retained{shares: shares, documents: map[*ast.QueryDocument]*retainedDocument{}}
}

// bytesOf returns about how many bytes a request takes in memory, beside its parsed document.
func bytesOf(params *graphql.RawParams) int {
	return len(params.Query) + len(params.OperationName) + cost.SizeOf(params.Variables) + cost.SizeOf(params.Extensions)
}

// retainedBy returns the bytes of the request of an operation.
func retainedBy(op *graphql.OperationContext) int {
	bytes, _ := op.Stats.GetExtension(retainedKey).(int)
	return bytes
}

// values counts bytes of a request. The returned function has to be called when the operation needs them no more.
func (k *retained) values(client ratelimit.Client, bytes int) (release func(), err error) {
	release, ok := k.shares.Keep(client, bytes)
	if !ok {
		return nil, cost.ErrTooMuchKept()
	}
	return release, nil
}

// document does the same for a parsed document.
func (k *retained) document(client ratelimit.Client, text string, doc *ast.QueryDocument) (release func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.documents[doc]
	if d == nil {
		release, ok := k.shares.Keep(client, exec.DocumentSize(text))
		if !ok {
			return nil, cost.ErrTooMuchKept()
		}
		d = &retainedDocument{release: release}
		k.documents[doc] = d
	}
	d.operations++
	return func() { k.endOf(doc) }, nil
}

// endOf notes that an operation needs a document no more.
func (k *retained) endOf(doc *ast.QueryDocument) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.documents[doc]
	if d.operations--; d.operations == 0 {
		delete(k.documents, doc)
		d.release()
	}
}

// operation counts all that an operation keeps.
func (k *retained) operation(client ratelimit.Client, op *graphql.OperationContext) (release func(), err error) {
	releaseValues, err := k.values(client, retainedBy(op))
	if err != nil {
		return nil, err
	}
	releaseDocument, err := k.document(client, op.RawQuery, op.Doc)
	if err != nil {
		releaseValues()
		return nil, err
	}
	return func() {
		releaseDocument()
		releaseValues()
	}, nil
}
