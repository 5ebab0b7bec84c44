package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// artifacts is where runs get their folders.
const artifacts = "artifacts"

// defaultDir names the folder of a run.
func defaultDir(c *config, now time.Time) string {
	name := fmt.Sprintf("%s-%s-concurrency%d-%s", pathSafe(c.Model), c.EndpointType, c.Concurrency, now.Format("20060102-150405"))
	return filepath.Join(artifacts, name)
}

// maxName bounds the part of a folder's name that comes from the user, in bytes.
const maxName = 100

// pathSafe returns s in a form that is one plain file name everywhere.
func pathSafe(s string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '_'
	}, s)
	if safe == "" || safe[0] == '.' {
		safe = "_" + strings.TrimPrefix(safe, ".")
	}
	return safe[:min(len(safe), maxName)]
}

// makeDir makes the run's folder and makes sure that files can be written to it. A folder of the run's own gets
// another name when its name is taken. undo removes what was made, as long as nothing is in it.
func (c *config) makeDir() (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range made {
			os.Remove(dir)
		}
	}
	defer func() {
		if err != nil {
			undo()
			err = fmt.Errorf("cannot write to %s: %w", c.ArtifactDir, reason(err))
		}
	}()
	parent := filepath.Dir(filepath.Clean(c.ArtifactDir))
	for dir := parent; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return undo, err
	}
	name := c.ArtifactDir
	err = os.Mkdir(name, 0o700)
	for n := 2; c.ownDir && errors.Is(err, fs.ErrExist); n++ {
		c.ArtifactDir = fmt.Sprintf("%s-%d", name, n)
		err = os.Mkdir(c.ArtifactDir, 0o700)
	}
	switch {
	case err == nil:
		made = append([]string{c.ArtifactDir}, made...)
	case !errors.Is(err, fs.ErrExist):
		return undo, err
	}
	f, err := os.CreateTemp(c.ArtifactDir, ".writable-*")
	if err != nil {
		return undo, err
	}
	return undo, errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason is an error of the file system without the path, which the message has already.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
