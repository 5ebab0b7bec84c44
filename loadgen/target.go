package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// defaultURL is where a server is looked for when only the model is named.
const defaultURL = "localhost:8000"

// paths are where the APIs are, by endpoint type.
var paths = map[string]string{
	endpointChat:        "/v1/chat/completions",
	endpointCompletions: "/v1/completions",
}

// modelsPath is where a server lists its models.
const modelsPath = "/v1/models"

// endpointPath returns the path for an endpoint type, or the one that stands in its place.
func endpointPath(endpointType, custom string) (string, error) {
	if custom == "" {
		return paths[endpointType], nil
	}
	custom = "/" + strings.Trim(custom, "/")
	// The instrumentation knows requests by these endings.
	suffix := strings.TrimPrefix(paths[endpointType], "/v1")
	if !strings.HasSuffix(custom, suffix) || endpointType == endpointCompletions && strings.HasSuffix(custom, "/chat/completions") {
		return "", fmt.Errorf("the path for type %s must end in %s", endpointType, suffix)
	}
	return custom, nil
}

// setURL takes the server's address, with or without a scheme, and with or without the API's path.
func (c *config) setURL(text string) error {
	if text == "" {
		text = defaultURL
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The parser's message quotes the address, and with it a password.
		var parse *url.Error
		errors.As(err, &parse)
		return fmt.Errorf("not an address: %w", parse.Err)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme must be http or https, not %q", u.Scheme)
	case u.Hostname() == "":
		return errors.New("the address has no host")
	}
	u.Fragment, u.RawPath = "", ""
	u.Path = strings.TrimRight(u.Path, "/")
	for _, known := range []string{c.endpoint, paths[endpointChat], paths[endpointCompletions]} {
		if base, ok := strings.CutSuffix(u.Path, known); ok {
			u.Path = base
			break
		}
	}
	c.Base = u
	c.Target = join(u, c.endpoint)
	return nil
}

// join appends a path to an address, whose own path may already end in /v1.
func join(base *url.URL, path string) *url.URL {
	u := *base
	if strings.HasPrefix(path, "/v1/") {
		u.Path = strings.TrimSuffix(u.Path, "/v1")
	}
	u.Path += path
	return &u
}

// shown returns an address without what can be secret in it.
func shown(u *url.URL) string {
	s := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return s.String()
}
