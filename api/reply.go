package api

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
)

// reply is a response as handlers return it; respond alone writes it.
type reply struct {
	status      int
	contentType string
	body        []byte
	tagged      bool    // has an entity tag, and may be answered by 304
	tag         string  // the entity tag, where it is known already
	buffer      *buffer // that the body lies in; nil where it is no longer anybody's but the body's
	admitted    *admitted
	beyond      resource.Beyond // figures that are null in the body because they cannot be shown
	stream      *stream         // sent in the place of a body
}

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
)

// maxKeptBuffer bounds the buffers that are used again, in bytes. A budget of 2,000 lines takes 3 MB, its cash flow over
// 120 months 13 MB.
const maxKeptBuffer = 16 << 20

// buffers holds bodies for the next response.
type buffers struct{ pool sync.Pool }

// buffer is the memory of a body. Several may hold it, replies that are being sent and what is kept of answers; when the last
// of them has put it back it is used again. Whoever never puts it back leaves it to the garbage collector.
type buffer struct {
	bytes   []byte
	holders atomic.Int32
}

// get returns a buffer with one holder.
func (b *buffers) get() *buffer {
	kept, ok := b.pool.Get().(*buffer)
	if !ok {
		kept = &buffer{bytes: make([]byte, 0, 32<<10)}
	}
	kept.holders.Store(1)
	return kept
}

// put is called once by each holder.
func (b *buffers) put(held *buffer) {
	if held != nil && held.holders.Add(-1) == 0 && cap(held.bytes) <= maxKeptBuffer {
		b.pool.Put(held)
	}
}

// encode makes the body of a data response, of so many bytes at most.
func (s *Server) encode(write writer, limit int) (reply, error) {
	buffer := s.buffers.get()
	e := &resource.Encoder{B: buffer.bytes[:0], Limit: limit}
	err := write(e)
	buffer.bytes = e.B
	if err == nil && e.Full() {
		err = fmt.Errorf("encode the answer: %w", reader.ErrTooLarge)
	}
	if err != nil {
		s.buffers.put(buffer)
		return reply{}, err
	}
	return reply{status: http.StatusOK, contentType: typeJSON, body: e.B, tagged: true, buffer: buffer, beyond: e.Beyond}, nil
}

// problemReply is a problem as a response, with the headers that belong to it.
func problemReply(p *problem.Error, header http.Header, requestID string) reply {
	switch p.Kind {
	case problem.AuthenticationRequired:
		header.Set("WWW-Authenticate", `Bearer realm="tallyhouse"`)
	case problem.InvalidCredentials:
		header.Set("WWW-Authenticate", `Bearer realm="tallyhouse", error="invalid_token"`)
	case problem.MethodNotAllowed:
		header.Set("Allow", strings.Join(p.Allow, ", "))
	case problem.TooManyRequests:
		// At least one, as the OpenAPI document says: the wait may be over by now.
		header.Set("Retry-After", strconv.FormatInt(max(1, seconds(p.RetryAfter)), 10))
	}
	return reply{status: p.Kind.Status, contentType: typeProblem, body: p.Append(nil, requestID)}
}

// respond writes a reply. It returns how many bytes of a body that was, before they are compressed.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, out reply) (status, size int) {
	defer out.admitted.sent()
	defer s.buffers.put(out.buffer)
	header := w.Header()
	if out.tagged {
		tag := out.tag
		if tag == "" {
			tag = entityTag(out.body)
		}
		header.Set("ETag", tag)
		if matchesTag(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return http.StatusNotModified, 0
		}
	}
	if out.contentType != "" { // an answer without a body has none
		header.Set("Content-Type", out.contentType)
	}
	header.Set("Content-Length", strconv.Itoa(len(out.body)))
	w.WriteHeader(out.status)
	if r.Method == http.MethodHead {
		return out.status, 0
	}
	// The client may have left: there is nobody to report that to.
	_, _ = w.Write(out.body)
	return out.status, len(out.body)
}

// entityTag is weak: compression changes the bytes, not what they say. Who makes collisions on
// purpose deceives nobody else, so no cryptographic hash is needed; it must cost little for bodies of megabytes.
func entityTag(body []byte) string {
	sum := binary.BigEndian.AppendUint64(nil, xxh3.Hash(body))
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum) + `"`
}

// matchesTag reports whether If-None-Match names the tag.
func matchesTag(headers []string, tag string) bool {
	opaque := strings.TrimPrefix(tag, "W/")
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == opaque {
				return true
			}
		}
	}
	return false
}
