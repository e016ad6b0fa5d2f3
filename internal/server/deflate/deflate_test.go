package deflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// lastBlock is an empty one, without which readers do not know that a text is complete.
const lastBlock = "\x03\x00"

func TestAppend_CompressesEachPartByItself(t *testing.T) {
	t.Parallel()
	random := make([]byte, 3*partSize)
	rand.NewChaCha8([32]byte{}).Read(random)
	for name, text := range map[string][]byte{
		"repeated": bytes.Repeat([]byte("0123456789ab"), len(random)/12),
		"random":   random,
	} {
		for length, parts := range map[int]int{0: 1, 1: 1, 127: 1, 128: 1, partSize: 1, partSize + 1: 2, 3 * partSize: 3} {
			var c Compressors
			begun, running := 0, 0
			compressed, err := c.Append([]byte("before"), text[:length], func() (func(), error) {
				begun++
				running++
				return func() { running-- }, nil
			})
			if err != nil || begun != parts || running != 0 {
				t.Errorf("%d %s bytes: compressed in %d parts, want %d; %d have not ended; %v", length, name, begun, parts, running, err)
			}
			if !bytes.HasSuffix(compressed, []byte(Tail)) {
				t.Errorf("%d %s bytes: compressed to %x", length, name, compressed)
			}
			r := flate.NewReader(bytes.NewReader(append(bytes.TrimPrefix(compressed, []byte("before")), lastBlock...)))
			if plain, err := io.ReadAll(r); err != nil || !bytes.Equal(plain, text[:length]) {
				t.Errorf("%d %s bytes differ after compression: %v", length, name, err)
			}
		}
	}
}

func TestAppend_FailsIfNoPartMayBegin(t *testing.T) {
	t.Parallel()
	var c Compressors
	left := errors.New("the client has left")
	begun, ended := 0, 0
	_, err := c.Append(nil, make([]byte, 3*partSize), func() (func(), error) {
		if begun == 2 {
			return nil, left
		}
		begun++
		return func() { ended++ }, nil
	})
	if !errors.Is(err, left) || ended != begun {
		t.Errorf("got %v; %d of %d parts have ended", err, ended, begun)
	}
}
