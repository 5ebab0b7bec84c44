package collectorexporter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Reports can hold prompts (level raw) and error texts: they are the user's own.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// makeFolder creates the folder and checks that files can be made in it, so that a run cannot end without a place for
// its report.
func makeFolder(folder string) error {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("cannot create directory %s: %w", folder, err)
	}
	f, err := os.CreateTemp(folder, ".write-check-*")
	if err != nil {
		return fmt.Errorf("cannot write to directory %s: %w", folder, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// maxFolder bounds the name of a run's folder, in bytes: file systems take 255.
const maxFolder = 100

// folderName makes a run's id from the network the name of a folder: letters, digits, dot, hyphen and underscore, no
// leading dot. An id that has anything else keeps what is safe of it and gets a hash, so that no two ids share a folder.
func folderName(runID string) string {
	if runID == "" {
		return "no-run-id"
	}
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, runID)
	safe = strings.TrimLeft(safe, ".")
	if safe == runID && len(safe) <= maxFolder && safe != "no-run-id" {
		return safe
	}
	hash := sha256.Sum256([]byte(runID))
	return safe[:min(len(safe), maxFolder)] + "-" + hex.EncodeToString(hash[:8])
}

// writeFile makes a file in one piece: readers see the old one or the new one, never a part.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := newFile(path)
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if err := write(f); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return closeFile(path, f)
}

// newFile opens a temporary file beside path, hidden from those who list its folder's reports.
func newFile(path string) (*renameio.PendingFile, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(fileMode))
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, err)
	}
	return f, nil
}

// closeFile gives the temporary file its name.
func closeFile(path string, f *renameio.PendingFile) error {
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
