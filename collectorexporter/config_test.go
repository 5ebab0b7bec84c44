package collectorexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		yaml map[string]any
		want string
	}{
		"defaults":    {nil, ""},
		"all":         {map[string]any{"directory": "/tmp/x", "run_folders": false, "level": "raw", "files": map[string]any{"csv": "a.csv"}, "console": map[string]any{"enabled": false, "title_prefix": "Mine | "}}, ""},
		"directory":   {map[string]any{"directory": ""}, "directory: must not be empty"},
		"level":       {map[string]any{"level": "all"}, `level: "all" is none of summary, records, raw`},
		"path":        {map[string]any{"files": map[string]any{"json": "../a.json"}}, `files::json: "../a.json" is not a plain file name`},
		"hidden":      {map[string]any{"files": map[string]any{"raw": ".raw"}}, `files::raw: ".raw" is not a plain file name`},
		"backslash":   {map[string]any{"files": map[string]any{"raw": `a\b`}}, `files::raw: "a\\b" is not a plain file name`},
		"same":        {map[string]any{"files": map[string]any{"json": "a", "csv": "a"}}, `files::csv: "a" is the name of files::json too`},
		"control":     {map[string]any{"console": map[string]any{"title_prefix": "a\x1b[31m"}}, `console::title_prefix: "a\x1b[31m" is longer than 80 characters or has some that do not print`},
		"unknown key": {map[string]any{"directories": "a"}, "has invalid keys: directories"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := NewFactory().CreateDefaultConfig()
			err := confmap.NewFromStringMap(c.yaml).Unmarshal(cfg)
			if err == nil {
				err = confmap.Validate(cfg)
			}
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFolderName(t *testing.T) {
	for id, want := range map[string]string{
		"run-1_a.B":    "run-1_a.B",
		"":             "no-run-id",
		"no-run-id":    "no-run-id-0b1c1d2e",
		"../../etc/x":  "_.._etc_x-",
		"/etc/passwd":  "_etc_passwd-",
		"a/b":          "a_b-",
		".hidden":      "hidden-",
		"..":           "-",
		"a\x00\x1b[0m": "a___0m-",
	} {
		got := folderName(id)
		if id == "no-run-id" {
			require.NotEqual(t, id, got)
			continue
		}
		require.Contains(t, got, want)
		require.NotContains(t, got, "/")
		require.NotEqual(t, byte('.'), got[0])
	}
	require.NotEqual(t, folderName("a/b"), folderName("a_b"))
	require.NotEqual(t, folderName("a/b"), folderName("a?b"))
	long := folderName(string(make([]byte, 5000)))
	require.Less(t, len(long), 200)
}
