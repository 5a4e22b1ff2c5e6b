// Package drawn draws pages of PDFs as viewers show them, by PDFium. PDFium runs as WebAssembly: it has memory of its own,
// no file, no network and no true clock, so a file that takes it over can draw a wrong page and nothing else.
//
// It costs seconds of processor time to start, so it is for what cannot be had otherwise.
package drawn

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// ErrFailed is wrapped when a file or a page can't be drawn.
var ErrFailed = errors.New("the page cannot be drawn")

const (
	// maxMemory is PDFium's, in bytes: it unpacks a page of A4 in 300 dpi and color in 150 MiB.
	maxMemory = 256 << 20
	wasmPage  = 64 << 10
	maxPixels = 20_000_000 // of a page
	// otherSize is how many points a page's sides may differ from what the caller knows of it.
	otherSize = 2
)

// File is an open file. It must be closed, and is for one goroutine.
type File struct {
	pool     pdfium.Pool
	pdfium   pdfium.Pdfium
	document references.FPDF_DOCUMENT
}

// Open starts PDFium and opens a file in it. All that is done with the file ends with ctx.
func Open(ctx context.Context, data []byte) (*File, error) {
	return open(ctx, data, wazero.NewRuntimeConfig())
}

func open(ctx context.Context, data []byte, runtime wazero.RuntimeConfig) (*File, error) {
	pool, err := webassembly.Init(webassembly.Config{
		Context:  experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(room)),
		MaxTotal: 1, Stdout: io.Discard, Stderr: io.Discard, FSConfig: wazero.NewFSConfig(),
		RuntimeConfig: runtime.WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(maxMemory / wasmPage).WithCloseOnContextDone(true),
	})
	if err != nil {
		return nil, failure(ctx, "start pdfium", err)
	}
	f := &File{pool: pool}
	if f.pdfium, err = pool.GetInstanceWithContext(ctx); err != nil {
		return nil, errors.Join(failure(ctx, "start pdfium", err), f.Close())
	}
	opened, err := f.pdfium.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return nil, errors.Join(failure(ctx, "open the file", err), f.Close())
	}
	f.document = opened.Document
	return f, nil
}

// failure tells the end of the time from what the file is to blame for.
func failure(ctx context.Context, attempted string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", attempted, ctx.Err())
	}
	return fmt.Errorf("%s: %w: %w", attempted, err, ErrFailed)
}

// Page draws a page, counted from 0, in gray at a resolution. Its sides, in points as the page is shown, must be
// the given ones: another size says that PDFium takes another page for the one that is meant.
func (f *File) Page(ctx context.Context, index int, width, height, dpi float64) (*image.Gray, error) {
	w, h := int(width*dpi/72), int(height*dpi/72)
	if w < 1 || h < 1 || w > maxPixels || h > maxPixels || w*h > maxPixels {
		return nil, fmt.Errorf("page of %.0f by %.0f points: %w", width, height, ErrFailed)
	}
	size, err := f.pdfium.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: f.document, Index: index})
	if err != nil {
		return nil, failure(ctx, "measure the page", err)
	}
	if math.Abs(size.Width-width) > otherSize || math.Abs(size.Height-height) > otherSize {
		return nil, fmt.Errorf("page of %.0f by %.0f points is drawn as %.0f by %.0f: %w", width, height, size.Width, size.Height, ErrFailed)
	}
	page, err := f.pdfium.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.document, Index: index})
	if err != nil {
		return nil, failure(ctx, "load the page", err)
	}
	defer func() { _, _ = f.pdfium.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	bitmap, err := f.pdfium.FPDFBitmap_CreateEx(&requests.FPDFBitmap_CreateEx{
		Width: w, Height: h, Format: enums.FPDF_BITMAP_FORMAT_GRAY, Pointer: uint64(0)})
	if err != nil {
		return nil, failure(ctx, "make room for the page", err)
	}
	defer func() { _, _ = f.pdfium.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: bitmap.Bitmap}) }()
	if _, err := f.pdfium.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{
		Bitmap: bitmap.Bitmap, Width: w, Height: h, Color: 0xFFFFFFFF}); err != nil {
		return nil, failure(ctx, "make the page white", err)
	}
	if _, err := f.pdfium.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{
		Bitmap: bitmap.Bitmap, Page: requests.Page{ByReference: &page.Page}, SizeX: w, SizeY: h}); err != nil {
		return nil, failure(ctx, "draw the page", err)
	}
	stride, err := f.pdfium.FPDFBitmap_GetStride(&requests.FPDFBitmap_GetStride{Bitmap: bitmap.Bitmap})
	if err != nil {
		return nil, failure(ctx, "take the page", err)
	}
	buffer, err := f.pdfium.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: bitmap.Bitmap})
	if err != nil {
		return nil, failure(ctx, "take the page", err)
	}
	if stride.Stride < w || len(buffer.Buffer) < stride.Stride*h {
		return nil, fmt.Errorf("take the page: %d bytes for %d by %d pixels: %w", len(buffer.Buffer), w, h, ErrFailed)
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		copy(out.Pix[y*out.Stride:][:w], buffer.Buffer[y*stride.Stride:])
	}
	return out, nil
}

// Close ends PDFium.
func (f *File) Close() error {
	if err := f.pool.Close(); err != nil {
		return fmt.Errorf("end pdfium: %w", err)
	}
	return nil
}
