package originals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"tallyhouse/schemas/loopback"
)

// requestTime bounds one request to an S3 server, with its repetitions.
const requestTime = 2 * time.Minute

// requestTries is how often a request is sent at most.
const requestTries = 3

// CheckBucket reports what is wrong with the address of a bucket. It asks no server.
func CheckBucket(address string) error {
	_, err := parseBucket(address)
	return err
}

// OpenBucket opens a bucket of an S3 server as a Store: https://KEY:SECRET@HOST/BUCKET/PREFIX?region=R. Without KEY the
// credentials are those of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN) or of the
// machine. The bucket must be there. An error holds no secret.
func OpenBucket(ctx context.Context, address string) (*Store, error) {
	at, err := parseBucket(address)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(at.host, &minio.Options{
		Creds: at.credentials(), Secure: at.secure, Region: at.region, MaxRetries: requestTries,
	})
	if err != nil {
		return nil, fmt.Errorf("open the originals at %s: %w", at, err)
	}
	return open(ctx, bucket{client, at.bucket, at.prefix}, at.String())
}

// place is where a bucket is.
type place struct {
	host, bucket, prefix, region string
	secure                       bool
	key, secret                  string
}

// String is the place without its secret.
func (p place) String() string {
	scheme := "https"
	if !p.secure {
		scheme = "http"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s://%s/%s/%s", scheme, p.host, p.bucket, p.prefix), "/")
}

func (p place) credentials() *credentials.Credentials {
	if p.key != "" {
		return credentials.NewStaticV4(p.key, p.secret, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.IAM{}})
}

// parseBucket reads an address. Its error doesn't repeat it, for it holds a secret.
func parseBucket(address string) (place, error) {
	wrong := func(what string) (place, error) {
		return place{}, fmt.Errorf("the originals' address %s; it must be like https://KEY:SECRET@HOST/BUCKET/PREFIX?region=R", what)
	}
	u, err := url.Parse(address)
	if err != nil {
		return wrong("is no URL")
	}
	p := place{host: u.Host, secure: u.Scheme == "https", region: u.Query().Get("region")}
	p.key = u.User.Username()
	p.secret, _ = u.User.Password()
	var found bool
	p.bucket, p.prefix, found = strings.Cut(strings.Trim(u.Path, "/"), "/")
	if found {
		p.prefix += "/"
	}
	for name := range u.Query() {
		if name != "region" && name != "tls" {
			return wrong("has the unknown parameter " + name)
		}
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http", p.host == "":
		return wrong("names no server")
	case p.bucket == "":
		return wrong("names no bucket")
	case (p.key == "") != (p.secret == ""):
		return wrong("has a key without its secret")
	case !p.secure && !loopback.Is(u.Hostname()) && u.Query().Get("tls") != "off":
		return wrong("is http on another machine, where everybody between could read the invoices: use https, or ?tls=off")
	}
	return p, nil
}

// bucket is a backend of an S3 server.
type bucket struct {
	client       *minio.Client
	name, prefix string
}

func (b bucket) create(ctx context.Context, name string, content []byte) (created bool, err error) {
	ctx, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	if _, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{}); err == nil {
		return false, nil
	} else if !isMissing(err) {
		return false, withDenial(err)
	}
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
	options.SetMatchETagExcept("*")
	_, err = b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(content), int64(len(content)), options)
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed { // another process was faster
		return false, nil
	}
	return err == nil, withDenial(err)
}

func (b bucket) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer object.Close()
	content, err := readBounded(object, limit)
	if isMissing(err) {
		return nil, ErrNotFound
	}
	return content, withDenial(err)
}

// withDenial wraps ErrDenied around an answer that is one.
func withDenial(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}

// isMissing reports whether an error says that there is no such object. A bucket that is missing is another fault.
func isMissing(err error) bool {
	var answer minio.ErrorResponse
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound && answer.Code != "NoSuchBucket"
}
