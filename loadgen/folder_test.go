package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathSafe(t *testing.T) {
	tests := []struct{ name, want string }{
		{"Qwen3-0.6B", "Qwen3-0.6B"},
		{"Qwen/Qwen3 (new)", "Qwen_Qwen3__new_"},
		{"../../etc", "_._.._etc"},
		{".hidden", "_hidden"},
		{"..", "_."},
		{"a\\b:c\x00\n", "a_b_c__"},
		{"модель", "______"},
		{"", "_"},
		{strings.Repeat("a", 500), strings.Repeat("a", 100)},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, pathSafe(tt.name))
	}
}

func FuzzPathSafe(f *testing.F) {
	f.Add("../a")
	f.Add("\xff..")
	f.Fuzz(func(t *testing.T, s string) {
		require.Regexp(t, regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$`), pathSafe(s))
	})
}

func TestMakeDir(t *testing.T) {
	root := t.TempDir()
	names := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}

	given := &config{ArtifactDir: filepath.Join(root, "a", "b", "c")}
	undo, err := given.makeDir()
	require.NoError(t, err)
	require.DirExists(t, given.ArtifactDir)
	require.Empty(t, names(given.ArtifactDir), "the look leaves nothing")
	undo()
	require.Empty(t, names(root))

	_, err = given.makeDir()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(given.ArtifactDir, "old"), nil, 0o600))
	undo, err = given.makeDir()
	require.NoError(t, err, "a folder that the user names can be there already")
	undo()
	require.FileExists(t, filepath.Join(given.ArtifactDir, "old"))

	own := &config{ArtifactDir: given.ArtifactDir, ownDir: true}
	undo, err = own.makeDir()
	require.NoError(t, err)
	require.Equal(t, given.ArtifactDir+"-2", own.ArtifactDir)
	undo()
	require.Equal(t, []string{"c"}, names(filepath.Dir(given.ArtifactDir)))

	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "x", "y")} {
		_, err = (&config{ArtifactDir: dir}).makeDir()
		require.EqualError(t, err, "cannot write to "+dir+": not a directory")
	}
}
