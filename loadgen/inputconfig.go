package main

import (
	"encoding/json"

	"github.com/specdecode/otel/loadgen/dataset"
	"github.com/specdecode/otel/semconv"
)

// inputConfig is the configuration as AIPerf's reports have it, under input_config. Keys, headers and prompts are not
// in it.
type inputConfig struct {
	Models struct {
		Items []inputModel `json:"items"`
	} `json:"models"`
	Endpoint   inputEndpoint  `json:"endpoint"`
	Datasets   []inputDataset `json:"datasets"`
	Phases     []inputPhase   `json:"phases"`
	Artifacts  inputArtifacts `json:"artifacts"`
	RandomSeed uint64         `json:"random_seed"`
	// Simulated tells that no real server was there.
	Simulated bool `json:"simulated,omitempty"`
}

type inputModel struct {
	Name string `json:"name"`
}

type inputEndpoint struct {
	URLs      []string `json:"urls"`
	Type      string   `json:"type"`
	Streaming bool     `json:"streaming"`
}

type inputDataset struct {
	Name    string        `json:"name"`
	Type    string        `json:"type"`
	Format  string        `json:"format,omitempty"`
	Path    string        `json:"path,omitempty"`
	Entries int64         `json:"entries,omitempty"`
	Prompts *inputPrompts `json:"prompts,omitempty"`
}

type inputPrompts struct {
	ISL *inputMean `json:"isl,omitempty"`
	OSL *inputMean `json:"osl,omitempty"`
}

type inputMean struct {
	Mean int `json:"mean"`
}

type inputPhase struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Type        string  `json:"type"`
	Excluded    bool    `json:"exclude_from_results,omitempty"`
	Requests    int64   `json:"requests,omitempty"`
	Duration    float64 `json:"duration,omitempty"`
	Concurrency int     `json:"concurrency"`
}

type inputArtifacts struct {
	Dir string `json:"dir"`
	// Records is false, or lists the formats of the records' files.
	Records any  `json:"records"`
	Raw     bool `json:"raw"`
}

// inputConfig returns the configuration in AIPerf's form, a JSON object.
func (c *config) inputConfig() string {
	var i inputConfig
	i.Models.Items = []inputModel{{c.Model}}
	i.Endpoint = inputEndpoint{URLs: []string{shown(c.Base)}, Type: c.EndpointType, Streaming: c.Streaming}
	i.Datasets = []inputDataset{c.inputDataset()}
	if c.Warmup > 0 {
		i.Phases = append(i.Phases, inputPhase{Name: semconv.PhaseWarmup, Kind: semconv.PhaseWarmup, Type: "concurrency",
			Excluded: true, Requests: c.Warmup, Concurrency: c.Concurrency})
	}
	i.Phases = append(i.Phases, inputPhase{Name: semconv.PhaseProfiling, Kind: semconv.PhaseProfiling, Type: "concurrency",
		Requests: c.Requests, Duration: c.Duration.Seconds(), Concurrency: c.Concurrency})
	i.Artifacts = inputArtifacts{Dir: c.ArtifactDir, Records: []string{"jsonl"}, Raw: c.ExportLevel == levelRaw}
	if c.ExportLevel == levelSummary {
		i.Artifacts.Records = false
	}
	i.RandomSeed, i.Simulated = c.Seed, c.Simulated
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // Nothing in it can fail to be JSON.
	}
	return string(b)
}

func (c *config) inputDataset() inputDataset {
	d := inputDataset{Name: "main", Type: "file", Format: c.Prompts.Format(), Path: c.inputFile, Entries: int64(c.Prompts.Len())}
	var p inputPrompts
	if d.Format == dataset.FormatSynthetic {
		d.Type, d.Format, d.Entries = "synthetic", "", c.Requests
		p.ISL = &inputMean{c.inputTokens}
	}
	if c.OutputTokens > 0 {
		p.OSL = &inputMean{c.OutputTokens}
	}
	if p != (inputPrompts{}) {
		d.Prompts = &p
	}
	return d
}
