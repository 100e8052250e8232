package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/locate"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// nearRecordings adds to the error of a model that is nowhere the recordings
// whose names resemble its, and where all of them are listed.
func nearRecordings(model string, err error) error {
	var nowhere *locate.NowhereError
	var missing *hub.Error
	offline := errors.As(err, &nowhere)
	if !offline && !(errors.As(err, &missing) && missing.Kind == hub.RepoNotFound) {
		return err
	}
	if _, recorded := fixtures.Find(model); recorded {
		return err // of another revision, or the error says so
	}
	const most = 4
	if near := fixtures.Similar(model); len(near) > 0 {
		err = fmt.Errorf("%w; recordings of similar names: %s", err, strings.Join(near[:min(len(near), most)], ", "))
	} else if !offline {
		return err
	}
	return fmt.Errorf("%w; 'hf-inspect recordings' lists all", err)
}

// configAlone adds to the error of a model without weights that its config can
// be counted.
func configAlone(ctx context.Context, model string, src source.Source, err error) error {
	var none *safetensors.NoWeightsError
	if !errors.As(err, &none) {
		return err
	}
	if data, ok, readErr := configFile(model); ok && readErr == nil {
		if config, _, parseErr := hfconfig.Parse(data); parseErr == nil && config.ModelType() != "" {
			return fmt.Errorf("a config holds no weights; 'hf-inspect estimate %s' counts what it promises", model)
		}
		return err
	}
	files, listErr := src.List(ctx)
	if listErr != nil || !slices.ContainsFunc(files, func(f source.File) bool { return f.Path == "config.json" }) {
		return err
	}
	return fmt.Errorf("%w; 'hf-inspect estimate %s' counts what its config promises", err, model)
}
