package kafka_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/kafka"
)

// zstdOf is a frame of zstd that declares a window of so many bits and whose blocks are these.
func zstdOf(windowBits int, blocks ...[]byte) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(windowBits-10) << 3}
	for i, b := range blocks {
		if i == len(blocks)-1 {
			b[0] |= 1
		}
		frame = append(frame, b...)
	}
	return frame
}

// block is one of zstd that holds content as it is, repeated one that holds a byte n times.
func block(content []byte) []byte { return append(blockHeader(0, len(content)), content...) }

func repeated(n int) []byte { return append(blockHeader(1, n), 0) }

func blockHeader(kind, size int) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(size<<3|kind<<1))[:3]
}

// gzipThen is a member of gzip with bytes behind it.
func gzipThen(content []byte, behind string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	b.WriteString(behind)
	return b.Bytes()
}

// wideZstd packs content with a window of so many bits.
func wideZstd(t *testing.T, bits int, content []byte) []byte {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err == nil {
		_, err = w.Write(content[:1])
	}
	if err == nil {
		err = w.Flush() // so that it doesn't know how much it will be, and declares a window
	}
	if err == nil {
		_, err = w.Write(content[1:])
	}
	if err = errors.Join(err, w.Close()); err != nil || b.Bytes()[4] != 0 {
		t.Fatalf("%v, and the frame begins with %x", err, b.Bytes()[:6])
	}
	b.Bytes()[5] = byte(bits-10) << 3
	return b.Bytes()
}

func unhex(t *testing.T, packed string) []byte {
	t.Helper()
	b, err := hex.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// aRecord is what a batch holds of one message.
func aRecord(value string) []byte {
	record := binary.AppendVarint([]byte{0, 0, 0, 1}, int64(len(value)))
	record = append(append(record, value...), 0)
	return append(binary.AppendVarint(nil, int64(len(record))), record...)
}

// Given batches that nobody can unpack, for whatever reason, then that is told as of one that unpacks to too much, so that they are passed;
// and one for which there is no memory now isn't.
func TestWhatNobodyCanUnpackIsToldFromWhatWaits(t *testing.T) {
	u, err := kafka.NewUnpacking(1<<30, func([]byte, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	record := aRecord("value")
	large := make([][]byte, kafka.UnpackedBytes>>17+1)
	for i := range large {
		large[i] = repeated(1 << 17)
	}
	for _, tc := range []struct {
		name   string
		codec  kgo.CompressionCodecType
		packed []byte
		want   error
		said   string // by the error, or by what is unpacked
	}{
		{"a whole one", kgo.CodecGzip, gzipThen(record, ""), nil, "value"},
		{"bytes behind gzip", kgo.CodecGzip, gzipThen(record, "more"), kgo.ErrMaxDecompress, "gzip: "},
		{"no gzip", kgo.CodecGzip, record, kgo.ErrMaxDecompress, "gzip: "},
		{"no snappy", kgo.CodecSnappy, []byte{200, 1, 2, 3}, kgo.ErrMaxDecompress, "snappy: "},
		{"no lz4", kgo.CodecLz4, record, kgo.ErrMaxDecompress, "lz4: "},
		{"what Java's producer packs at level 21", kgo.CodecZstd, unhex(t, "28b52ffd00807800001c00000001106c6576656c20323100010000"), nil, "level 2"},
		{"what it packs at level 22", kgo.CodecZstd, unhex(t, "28b52ffd00887800001c00000001106c6576656c20323200010000"), nil, "level 2"},
		{"a window that no level has", kgo.CodecZstd, zstdOf(28, block(record)), kgo.ErrMaxDecompress, "zstd: window size exceeded"},
		{"a wide window behind another", kgo.CodecZstd, append(zstdOf(20, block(record)), zstdOf(27, block(record))...), nil, "value"},
		{"a frame that is cut off", kgo.CodecZstd, zstdOf(27, block(record))[:12], kgo.ErrMaxDecompress, "zstd: "},
		{"too much behind a wide window", kgo.CodecZstd, zstdOf(27, large...), kgo.ErrMaxDecompress, "more than 33554432 bytes"},
		{"another codec", 5, record, kgo.ErrMaxDecompress, "codec 5: "},
	} {
		unpacked, err := u.Decompress(tc.packed, tc.codec)
		if !errors.Is(err, tc.want) || err == nil && !bytes.Contains(unpacked, []byte(tc.said)) || err != nil && !strings.Contains(err.Error(), tc.said) {
			t.Errorf("%s: %d bytes, %v", tc.name, len(unpacked), err)
		}
	}
	u.Hold(1 << 30)
	if _, err := u.Decompress(gzipThen(record, "more"), kgo.CodecGzip); !errors.Is(err, kafka.ErrLater) || errors.Is(err, kgo.ErrMaxDecompress) {
		t.Errorf("without memory: %v", err)
	}
}

// compressor packs a batch as it does.
type compressor func(content []byte) ([]byte, kgo.CompressionCodecType)

// Compress implements kgo.Compressor.
func (c compressor) Compress(_ *bytes.Buffer, content []byte, _ ...kgo.CompressFlag) ([]byte, kgo.CompressionCodecType) {
	return c(content)
}

// Given a batch that Kafka takes and nobody can unpack, between others, when the log is read, then it is passed, and all others come.
func TestAReaderPassesWhatItCannotUnpack(t *testing.T) {
	c := newCluster(t)
	c.create("a", 1)
	trailing := compressor(func(content []byte) ([]byte, kgo.CompressionCodecType) {
		return gzipThen(content, "more"), kgo.CodecGzip
	})
	wide := compressor(func(content []byte) ([]byte, kgo.CompressionCodecType) {
		return wideZstd(t, 27, content), kgo.CodecZstd
	})
	none := compressor(func(content []byte) ([]byte, kgo.CompressionCodecType) { return content, kgo.CodecNone })
	for _, m := range []struct {
		compressor
		value string
	}{{none, "1"}, {trailing, "2"}, {wide, "3"}, {trailing, "4"}, {none, "5"}} {
		producer := c.connect(kgo.DefaultProduceTopic("a"), kgo.WithCompressor(m.compressor))
		c.must(producer.ProduceSync(t.Context(), kgo.StringRecord(strings.Repeat(m.value, 1000))).FirstErr())
	}
	if got := c.values("a", 5); len(got) != 3002 || got[0] != '1' || got[1001] != '3' || got[2002] != '5' {
		t.Errorf("got %s", got)
	}
}

// values are the values of partition 0 of a topic up to an offset.
func (c *cluster) values(topic string, end int64) string {
	c.Helper()
	partition := kafka.Partition{Topic: topic}
	reader, err := kafka.NewReader(c.options, map[kafka.Partition]int64{partition: 0})
	c.must(err)
	defer reader.Close()
	var got []string
	for began, at := time.Now(), int64(0); at < end; {
		next, err := reader.Poll(c.Context(), func(r *kgo.Record) error { got = append(got, string(r.Value)); return nil })
		c.must(err)
		at = max(at, next[partition])
		if time.Since(began) > time.Minute {
			c.Fatalf("it is at offset %d", at)
		}
	}
	return strings.Join(got, " ")
}
