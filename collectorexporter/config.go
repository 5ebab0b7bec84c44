package collectorexporter

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Levels of the files that a run leaves, values of [Config.Level].
const (
	// LevelSummary writes the JSON and CSV summaries.
	LevelSummary = "summary"
	// LevelRecords also writes one JSON line per request.
	LevelRecords = "records"
	// LevelRaw also writes one JSON line per request with the request and its answer in full.
	LevelRaw = "raw"
)

// Config is the configuration of the exporter.
type Config struct {
	// Directory is where files go. It is created if need be; the exporter does not start when it cannot write there.
	Directory string `mapstructure:"directory"`

	// RunFolders gives each run a folder of its own in Directory, named by the run's id. Without it every run writes
	// to Directory itself, and a later run replaces the files of an earlier one.
	RunFolders bool `mapstructure:"run_folders"`

	// Level says how much is written: summary, records or raw.
	Level string `mapstructure:"level"`

	// Files are the files' names.
	Files FilesConfig `mapstructure:"files"`

	// Console is about the report on standard output.
	Console ConsoleConfig `mapstructure:"console"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// FilesConfig names the files within a run's folder.
type FilesConfig struct {
	JSON    string `mapstructure:"json"`
	CSV     string `mapstructure:"csv"`
	Records string `mapstructure:"records"`
	Raw     string `mapstructure:"raw"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// ConsoleConfig is about the report on standard output.
type ConsoleConfig struct {
	// Enabled prints the report of each run when it is complete.
	Enabled bool `mapstructure:"enabled"`

	// TitlePrefix stands before the title "Spec Decode".
	TitlePrefix string `mapstructure:"title_prefix"`

	// prevent unkeyed literal initialization
	_ struct{}
}

func createDefaultConfig() *Config {
	return &Config{
		Directory:  "artifacts",
		RunFolders: true,
		Level:      LevelRecords,
		Files: FilesConfig{
			JSON:    "profile_export_aiperf.json",
			CSV:     "profile_export.csv",
			Records: "profile_export.jsonl",
			Raw:     "profile_export_raw.jsonl",
		},
		Console: ConsoleConfig{Enabled: true},
	}
}

// Validate checks the configuration; every error names the YAML key.
func (c *Config) Validate() error {
	var errs []error
	if c.Directory == "" {
		errs = append(errs, errors.New("directory: must not be empty"))
	}
	if !slices.Contains([]string{LevelSummary, LevelRecords, LevelRaw}, c.Level) {
		errs = append(errs, fmt.Errorf("level: %q is none of summary, records, raw", c.Level))
	}
	seen := map[string]string{}
	for _, f := range []struct{ key, name string }{
		{"files::json", c.Files.JSON}, {"files::csv", c.Files.CSV},
		{"files::records", c.Files.Records}, {"files::raw", c.Files.Raw},
	} {
		if f.name == "" || f.name != filepath.Base(f.name) || strings.HasPrefix(f.name, ".") || strings.ContainsAny(f.name, `/\`) {
			errs = append(errs, fmt.Errorf("%s: %q is not a plain file name", f.key, f.name))
		}
		if other, ok := seen[f.name]; ok {
			errs = append(errs, fmt.Errorf("%s: %q is the name of %s too", f.key, f.name, other))
		}
		seen[f.name] = f.key
	}
	if c.Console.TitlePrefix != printable(c.Console.TitlePrefix, maxTitle) {
		errs = append(errs, fmt.Errorf("console::title_prefix: %q is longer than %d characters or has some that do not print", c.Console.TitlePrefix, maxTitle))
	}
	return errors.Join(errs...)
}

// maxTitle bounds the title's prefix, in characters: the table that it stands over is about 90 wide.
const maxTitle = 80
