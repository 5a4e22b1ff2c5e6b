package clickhouse

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The chDB release that the engine is, and the file in it that is the library.
const (
	releaseVersion = "26.7.3-stable.1"
	libraryFile    = "libchdb.so"
)

// release is one platform's package of the pinned version.
type release struct {
	platform  string // as the package's name ends
	integrity string // of the tarball, as npm writes it: sha512-BASE64
	tarball   int64  // its size in bytes
	library   int64  // the library's size in bytes
}

// releases holds the platforms whose package could be fetched and hashed when
// the version was pinned.
var releases = []release{
	{
		platform:  "linux-x64-gnu",
		integrity: "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
		tarball:   177_817_999,
		library:   566_330_096,
	},
}

// spec is the package and version, as the npm client takes them.
func (r release) spec() string { return "@chdb/lib-" + r.platform + "@" + releaseVersion }

// dir is the release's directory in the cache.
func (r release) dir() string { return releaseVersion + "-" + r.platform }

// hostPlatform names this machine as the packages do.
func hostPlatform() string {
	name := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	if runtime.GOOS != "linux" {
		return name
	}
	if loaders, _ := filepath.Glob("/lib/ld-musl-*"); len(loaders) > 0 && !hasGlibc() {
		return name + "-musl"
	}
	return name + "-gnu"
}

func hasGlibc() bool {
	for _, pattern := range []string{"/lib*/ld-linux*", "/lib/*/ld-linux*"} {
		if loaders, _ := filepath.Glob(pattern); len(loaders) > 0 {
			return true
		}
	}
	return false
}

func releaseFor(platform string) (release, error) {
	i := slices.IndexFunc(releases, func(r release) bool { return r.platform == platform })
	if i < 0 {
		var known []string
		for _, r := range releases {
			known = append(known, r.platform)
		}
		return release{}, &startFailure{Reason: errUnsupportedPlatform,
			Detail: platform + " (there is one for " + strings.Join(known, ", ") + ")", Advice: elsewhere}
	}
	return releases[i], nil
}
