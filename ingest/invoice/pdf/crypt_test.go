package pdf

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"
)

// TestFilesWithoutUserPasswordAreOpened encrypts a file as algorithms 2 and 5 of
// ISO 32000-1 say, by code of its own, and reads it back.
func TestFilesWithoutUserPasswordAreOpened(t *testing.T) {
	owner, id, permissions := bytes.Repeat([]byte{7}, 32), []byte("0123456789abcdef"), int32(-44)
	h := md5.New()
	h.Write(passwordPad)
	h.Write(owner)
	_ = binary.Write(h, binary.LittleEndian, permissions)
	h.Write(id)
	key := h.Sum(nil)
	for range 50 {
		sum := md5.Sum(key)
		key = sum[:]
	}
	user := md5.Sum(append(bytes.Clone(passwordPad), id...))
	for i := range 20 {
		step := bytes.Clone(key)
		for k := range step {
			step[k] ^= byte(i)
		}
		rc4Apply(step, user[:])
	}
	objectKey := md5.Sum(append(bytes.Clone(key), 3, 0, 0, 0, 0))
	secret := []byte("BT (hidden from nobody) Tj ET")
	rc4Apply(objectKey[:], secret)
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [4 0 R] >>\nendobj\n"+
		"3 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n4 0 obj\n<< /Type /Page /Contents 3 0 R >>\nendobj\n"+
		"5 0 obj\n<< /Filter /Standard /V 2 /R 3 /Length 128 /P %d /O <%s> /U <%s> >>\nendobj\n"+
		"trailer\n<< /Root 1 0 R /Encrypt 5 0 R /ID [<%s> <%s>] >>\nstartxref\n0\n%%%%EOF",
		len(secret), secret, permissions, hex.EncodeToString(owner), hex.EncodeToString(append(user[:], make([]byte, 16)...)),
		hex.EncodeToString(id), hex.EncodeToString(id))
	f, err := Open(context.Background(), []byte(file), NewBudget(1<<20, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(5)
	if err != nil || len(pages) != 1 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if content, err := contentOf(f, pages[0]); err != nil || content != "BT (hidden from nobody) Tj ET" {
		t.Errorf("content = %q, %v", content, err)
	}
}

func TestPredictorsAreUndone(t *testing.T) {
	f := &File{}
	params := Dict{"Predictor": int64(15), "Columns": int64(3)}
	rows := []byte{0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 4, 1, 1, 1}
	want := []byte{1, 2, 3, 1, 2, 3, 2, 3, 4, 2, 3, 4, 3, 4, 5}
	if got := f.unpredict(rows, params); !bytes.Equal(got, want) {
		t.Errorf("png rows = %v, want %v", got, want)
	}
	if got := f.unpredict([]byte{1, 1, 1, 5, 1, 1}, Dict{"Predictor": int64(2), "Columns": int64(3)}); !bytes.Equal(got,
		[]byte{1, 2, 3, 5, 6, 7}) {
		t.Errorf("tiff rows = %v", got)
	}
}
