package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what the servers took of the machine, and how long it was.
type usage struct {
	time           time.Duration
	engine, broker float64 // seconds of CPU
}

// meter measures what is used from when it was made.
type meter struct {
	s     *system
	began time.Time
	spent usage
}

func (s *system) measure() *meter {
	return &meter{s, time.Now(), usage{engine: s.engineCPU(), broker: cpuOf(os.Getpid())}}
}

func (m *meter) taken() usage {
	// The broker lives in this process, and next to it hardly anything.
	return usage{time.Since(m.began), m.s.engineCPU() - m.spent.engine, cpuOf(os.Getpid()) - m.spent.broker}
}

func (u usage) per(changes int) string {
	return fmt.Sprintf("%.0f changes/s\tengine %.1f µs of CPU a change, broker %.1f µs",
		float64(changes)/u.time.Seconds(), micros(u.engine, changes), micros(u.broker, changes))
}

// micros is what one of the changes took, in microseconds.
func micros(seconds float64, changes int) float64 { return seconds / float64(changes) * 1e6 }

// await waits until done reports true. It asks seldom, so as not to disturb what is measured: after each twentieth of
// the time that has passed, at least every three seconds.
func (s *system) await(done func() bool) {
	s.b.Helper()
	for began := time.Now(); time.Since(began) < time.Hour; {
		if done() {
			return
		}
		time.Sleep(min(max(time.Since(began)/20, 50*time.Millisecond), 3*time.Second))
	}
	s.b.Fatal("no end within an hour")
}

// settle waits until the engine has merged what it merges by itself: for ten seconds it neither merges nor begins to.
func (s *system) settle() {
	s.b.Helper()
	const parts = `SELECT (SELECT count() FROM system.merges), toString(arraySort(groupArray((database, table, name))))
FROM system.parts WHERE active AND database IN ('tallyhouse', 'plain')`
	var last string
	quiet := time.Now()
	for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(2 * time.Second) {
		var merges uint64
		var active string
		if err := s.conn.QueryRow(context.Background(), parts).Scan(&merges, &active); err != nil {
			s.b.Fatal(err)
		}
		if merges > 0 || active != last {
			last, quiet = active, time.Now()
		}
		if time.Since(quiet) > 10*time.Second {
			return
		}
	}
	s.b.Fatal("the engine merges for more than an hour")
}

// peakMemoryOf is the most resident memory that a process had, in bytes.
func peakMemoryOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.ParseInt(kb, 10, 64)
	return n << 10
}

// cpuOf is the CPU time of a process, in seconds.
func cpuOf(pid int) float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// engineCPU is the CPU time of this benchmark's engine, in seconds.
func (s *system) engineCPU() float64 {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	sum := 0.0
	for _, f := range all {
		line, _ := os.ReadFile(f)
		if strings.HasPrefix(string(line), s.binary+"\x00"+engineCommand) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			sum += cpuOf(pid)
		}
	}
	return sum
}
