package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// crypt undoes the standard security handler (7.6) with the empty user
// password, as every viewer does for files that only restrict printing.
type crypt struct {
	key  []byte
	mode cryptMode
}

type cryptMode int

const (
	modeNone cryptMode = iota
	modeRC4
	modeAES128
	modeAES256
)

var passwordPad = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// openCrypt sets up decryption when the trailer asks for it; ErrEncrypted when
// a password is needed or the handler is unknown.
func (f *File) openCrypt() error {
	if f.trailer["Encrypt"] == nil {
		return nil
	}
	d := f.Dict(f.trailer["Encrypt"])
	if d == nil || f.Name(d["Filter"]) != "Standard" {
		return fmt.Errorf("opening security handler %q: %w", f.Name(d["Filter"]), ErrEncrypted)
	}
	text := func(k Name) []byte { s, _ := f.Resolve(d[k]).(String); return []byte(s) }
	version, revision, bits := f.Int(d["V"], 0), f.Int(d["R"], 0), f.Int(d["Length"], 40)
	c := &crypt{mode: modeRC4}
	if version >= 4 {
		c.mode = modeNone
		filters := f.Dict(d["CF"])
		if stdCF := f.Dict(filters[f.Name(d["StmF"])]); stdCF != nil {
			switch f.Name(stdCF["CFM"]) {
			case "V2":
				c.mode, bits = modeRC4, 128
			case "AESV2":
				c.mode, bits = modeAES128, 128
			case "AESV3":
				c.mode = modeAES256
			}
		}
	}
	o, u, permissions := text("O"), text("U"), uint32(f.Int(d["P"], 0))
	if revision >= 5 {
		c.key = key256(u, text("UE"), revision)
	} else {
		var id []byte
		if ids := f.Array(f.trailer["ID"]); len(ids) > 0 {
			s, _ := f.Resolve(ids[0]).(String)
			id = []byte(s)
		}
		metadata := f.Resolve(d["EncryptMetadata"]) != false
		if bits < 40 || bits > 128 || version == 1 {
			bits = 40
		}
		c.key = key128(o, u, id, permissions, revision, int(bits/8), metadata)
	}
	if c.key == nil {
		return fmt.Errorf("opening with the empty password: %w", ErrEncrypted)
	}
	f.cache, f.packed = map[uint32]Object{}, map[uint32]map[uint32][]byte{}
	if ref, ok := f.trailer["Encrypt"].(Ref); ok {
		f.cache[ref.Number] = d
	}
	f.crypt = c
	return nil
}

// key128 is algorithm 2, checked by algorithms 4 and 5; nil when the empty
// password is wrong.
func key128(o, u, id []byte, permissions uint32, revision int64, length int, metadata bool) []byte {
	if len(o) < 32 || len(u) < 16 {
		return nil
	}
	h := md5.New()
	h.Write(passwordPad)
	h.Write(o[:32])
	h.Write(binary.LittleEndian.AppendUint32(nil, permissions))
	h.Write(id)
	if revision >= 4 && !metadata {
		h.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF})
	}
	key := h.Sum(nil)[:length]
	if revision >= 3 {
		for range 50 {
			sum := md5.Sum(key)
			key = append([]byte{}, sum[:length]...)
		}
		sum := md5.Sum(append(append([]byte{}, passwordPad...), id...))
		check := sum[:]
		for i := range 20 {
			step := make([]byte, len(key))
			for k := range key {
				step[k] = key[k] ^ byte(i)
			}
			rc4Apply(step, check)
		}
		if !bytes.Equal(check[:16], u[:16]) {
			return nil
		}
		return key
	}
	check := append([]byte{}, passwordPad...)
	rc4Apply(key, check)
	if !bytes.Equal(check, u[:min(32, len(u))]) {
		return nil
	}
	return key
}

func rc4Apply(key, data []byte) {
	if c, err := rc4.NewCipher(key); err == nil {
		c.XORKeyStream(data, data)
	}
}

// key256 is algorithm 2.A of ISO 32000-2 for the empty user password.
func key256(u, ue []byte, revision int64) []byte {
	if len(u) < 48 || len(ue) < 32 {
		return nil
	}
	validation, salt := u[32:40], u[40:48]
	if !bytes.Equal(hash256(validation, revision), u[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hash256(salt, revision))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(key, ue[:32])
	return key
}

// hash256 is algorithm 2.B with an empty password.
func hash256(salt []byte, revision int64) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	if revision < 6 {
		return k
	}
	for round := 0; ; round++ {
		e := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		mod := 0
		for _, c := range e[:16] {
			mod += int(c)
		}
		switch mod % 3 {
		case 0:
			s := sha256.Sum256(e)
			k = s[:]
		case 1:
			s := sha512.Sum384(e)
			k = s[:]
		default:
			s := sha512.Sum512(e)
			k = s[:]
		}
		if round >= 63 && int(e[len(e)-1]) <= round-31 {
			return k[:32]
		}
	}
}

func (c *crypt) objectKey(ref Ref) []byte {
	if c.mode == modeAES256 {
		return c.key
	}
	h := md5.New()
	h.Write(c.key)
	h.Write([]byte{byte(ref.Number), byte(ref.Number >> 8), byte(ref.Number >> 16), byte(ref.Generation),
		byte(ref.Generation >> 8)})
	if c.mode == modeAES128 {
		h.Write([]byte("sAlT"))
	}
	return h.Sum(nil)[:min(16, len(c.key)+5)]
}

func (c *crypt) stream(ref Ref, data []byte) []byte {
	switch c.mode {
	case modeRC4:
		out := bytes.Clone(data)
		rc4Apply(c.objectKey(ref), out)
		return out
	case modeAES128, modeAES256:
		block, err := aes.NewCipher(c.objectKey(ref))
		if err != nil || len(data) < 32 {
			return nil
		}
		out := bytes.Clone(data[16 : len(data)-len(data)%16])
		cipher.NewCBCDecrypter(block, data[:16]).CryptBlocks(out, out)
		if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
			out = out[:len(out)-pad]
		}
		return out
	}
	return data
}

// strings decrypts every string in o, in place where it can.
func (c *crypt) strings(ref Ref, o Object) Object {
	switch v := o.(type) {
	case String:
		return String(c.stream(ref, []byte(v)))
	case Array:
		for i := range v {
			v[i] = c.strings(ref, v[i])
		}
	case Dict:
		for k := range v {
			v[k] = c.strings(ref, v[k])
		}
	}
	return o
}
