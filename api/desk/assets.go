package desk

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"tallyhouse/api/serving"
)

//go:embed static vendored/*.gz
var assetFiles embed.FS

const (
	assetPath = "/static/"
	maxAsset  = 8 << 20 // bytes of what an archived file is unpacked to
)

// assets are what pages load: our style sheet and script, and the scripts of others, which api/desk/vendored/fetch takes in. Each
// has an address with the hash of its content, so browsers keep it for good.
type assets struct {
	addresses map[string]string // by name, like desk.css
	files     map[string]asset  // by address
}

type asset struct {
	contentType string
	body        []byte
	packed      *serving.Packed // of the large ones, which anybody may ask for
}

func loadAssets() (*assets, error) {
	a := &assets{addresses: map[string]string{}, files: map[string]asset{}}
	for _, folder := range []string{"static", "vendored"} {
		entries, err := fs.ReadDir(assetFiles, folder)
		if err != nil {
			return nil, fmt.Errorf("read the desk's files: %w", err)
		}
		for _, entry := range entries {
			body, err := assetFiles.ReadFile(path.Join(folder, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("read the desk's files: %w", err)
			}
			name, archived := strings.CutSuffix(entry.Name(), ".gz")
			var packed *serving.Packed
			if archived {
				if packed, err = serving.Unpack(body, maxAsset); err != nil {
					return nil, fmt.Errorf("%s: %w", entry.Name(), err)
				}
				body = packed.Plain
			}
			a.add(name, body, packed)
		}
	}
	return a, a.addFolder(decoders, "jbig2_nowasm_fallback.js", "openjpeg_nowasm_fallback.js")
}

// decoders is the folder of what unpacks pictures of scanners: pdf.js knows its files by their own names.
const decoders = "decoders"

// addFolder gives files addresses in one folder under their own names; its address ends in a slash.
func (a *assets) addFolder(folder string, names ...string) error {
	sum := sha256.New()
	for _, name := range names {
		address, err := a.address(name)
		if err != nil {
			return err
		}
		sum.Write(a.files[address].body)
	}
	at := assetPath + folder + "-" + hex.EncodeToString(sum.Sum(nil)[:6]) + "/"
	for _, name := range names {
		a.files[at+name] = a.files[a.addresses[name]]
	}
	a.addresses[folder] = at
	return nil
}

func (a *assets) add(name string, body []byte, packed *serving.Packed) {
	sum := sha256.Sum256(body)
	stem, extension, _ := strings.Cut(name, ".")
	address := assetPath + stem + "-" + hex.EncodeToString(sum[:6]) + "." + extension
	contentType := mime.TypeByExtension(path.Ext(name))
	if path.Ext(name) == ".mjs" || path.Ext(name) == ".js" {
		contentType = "text/javascript; charset=utf-8"
	}
	a.addresses[name] = address
	a.files[address] = asset{contentType, body, packed}
}

// address is where browsers find a file.
func (a *assets) address(name string) (string, error) {
	address, ok := a.addresses[name]
	if !ok {
		return "", fmt.Errorf("there is no file %s", name)
	}
	return address, nil
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, ok := a.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Access-Control-Allow-Origin", "*") // the frame that draws PDFs has no origin; everybody may have these files
	body := file.body
	if file.packed != nil {
		body = file.packed.Body(strings.Join(r.Header.Values("Accept-Encoding"), ","), w.Header())
	}
	_, _ = w.Write(body) // the browser may have left
}
