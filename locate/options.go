package locate

import (
	"io"
	"net/http"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/source"
)

// Options say where to look. The zero value looks on the local disk and on
// the public Hub, as the environment of the process says.
type Options struct {
	Revision  string // branch, tag or commit, where MODEL names none
	Subfolder string // folder of the repository to take as the model

	Offline   bool            // no network; HF_HUB_OFFLINE means the same
	Endpoint  string          // the Hub's address; else HF_ENDPOINT
	Token     string          // else TokenFile, else as the official client finds it
	TokenFile string          // a file that holds the token
	Headers   hub.HeadersMode // auto or ranges
	CacheDir  string          // our cache of what was read; else HF_INSPECT_CACHE, else the XDG folder
	NoCache   bool            // neither read nor write CacheDir
	Parallel  int             // requests at once

	Timeouts   hub.Timeouts
	Retry      hub.Retry
	Transport  http.RoundTripper // the network, for tests
	Env        source.Env        // the environment; nil is that of the process
	Recordings Recordings        // nil: none
	Verbose    io.Writer         // nil; else one line for each request and pause
	OnWait     func(hub.Wait)    // told before each pause of the client
}

// Recordings are the models that can be had without any file: what was read
// once and kept.
type Recordings interface {
	// Find returns the recording of a model by the name of its repository.
	Find(name string) (source.Source, bool)
}

// FileRecordings is implemented by Recordings that can also open a recording
// that the user names by its path. Open returns false for a file that is not
// a recording.
type FileRecordings interface {
	Recordings
	Open(path string) (source.Source, bool, error)
}

// Topic says what a Notice is about.
type Topic string

// The topics.
const (
	Renamed    Topic = "renamed"   // the Hub knows the model by another name
	Local      Topic = "local"     // a local path hides a repository of the same name
	FromCache  Topic = "cache"     // the Hub was not asked or could not be; the cache answers
	FromRecord Topic = "recording" // as above; a recording answers
)

// Notice is something the user should know about where a model came from,
// in one sentence.
type Notice struct {
	Topic   Topic
	Message string
}
