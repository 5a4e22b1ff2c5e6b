package serving

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// Packed is a file that is the same for everybody, kept both as gzip has compressed it and as it is. Anybody may ask for it, as often
// as they like and without taking what comes, so no request makes anything of its own of it.
type Packed struct {
	packed []byte
	Plain  []byte
}

// Unpack reads what gzip has compressed, of so many bytes at most.
func Unpack(packed []byte, most int) (*Packed, error) {
	unpacking, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack a file: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpacking, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("unpack a file: %w", err)
	}
	if len(plain) > most {
		return nil, fmt.Errorf("unpack a file: it has more than %d bytes", most)
	}
	return &Packed{packed: packed, Plain: bytes.Clone(plain)}, nil
}

// Body is what is sent to who accepts these encodings, and sets the headers that say so: compressed, or as it is and not compressed
// by whoever writes it.
func (p *Packed) Body(acceptEncoding string, header http.Header) []byte {
	if wanted(acceptEncoding, "gzip") {
		header.Set("Content-Encoding", "gzip")
		return p.packed
	}
	header.Set(gzhttp.HeaderNoCompression, "1")
	return p.Plain
}
