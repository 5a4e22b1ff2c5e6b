package demo

import (
	"io"
	"testing"

	"tallyhouse/schemas/events"
)

// BenchmarkWrite reports lines per second, for all topics and for records alone.
func BenchmarkWrite(b *testing.B) {
	for name, topics := range map[string][]events.Topic{"all": nil, "records": {events.Records}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var last Progress
			var bytes int64
			out := writerFunc(func(p []byte) (int, error) { bytes += int64(len(p)); return len(p), nil })
			o := Options{Records: 100_000, Topics: topics, Progress: func(p Progress) { last = p }}
			lines := int64(0)
			for b.Loop() {
				if err := Write(out, o); err != nil {
					b.Fatal(err)
				}
				lines += last.Lines
			}
			b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
			b.ReportMetric(float64(bytes)/float64(lines), "B/line")
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

var _ io.Writer = writerFunc(nil)
