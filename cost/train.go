package cost

import (
	"errors"
	"fmt"
)

// Training is a run: how much arithmetic, how long, how dear.
type Training struct {
	Parameters int64   `json:"parameters"` // that the rule counts: active where experts are routed
	Tokens     float64 `json:"tokens"`

	FLOPs      float64 `json:"training_flops"`
	Rule       string  `json:"rule"`
	PeakFLOPs  float64 `json:"peak_flops_per_second,omitempty"` // of one device
	Devices    float64 `json:"devices,omitempty"`
	Efficiency float64 `json:"efficiency,omitempty"` // share of the peak that training_flops reach; assumed, or from the measured speed

	Seconds     float64  `json:"seconds,omitempty"`
	Days        float64  `json:"days,omitempty"`
	DeviceHours float64  `json:"device_hours,omitempty"`
	TokensASec  float64  `json:"tokens_per_second,omitempty"` // of all devices
	Rate        float64  `json:"device_hour_rate,omitempty"`  // in whatever currency
	Cost        *float64 `json:"cost,omitempty"`              // in the same
	MFU         *float64 `json:"mfu,omitempty"`
	MFURule     string   `json:"mfu_rule,omitempty"`

	OptimalTokens *float64 `json:"compute_optimal_tokens"` // null for a model that generates nothing
	OptimalRule   string   `json:"compute_optimal_rule,omitempty"`

	Formulas    []Formula `json:"formulas"` // each figure in symbols, in numbers, as a result
	Assumptions []string  `json:"assumptions"`
}

// Budget says what a run has to do and on what.
type Budget struct {
	Parameters  int64   // by which 6·P·T counts
	Total       int64   // all unique parameters, for the compute-optimal rule
	Encoder     bool    // the model generates nothing, and that rule is not for it
	Tokens      float64 // 0: compute-optimal
	FLOPsAToken float64 // 0: 6·P
	Rule        string
	Peak        float64 // FLOP/s of a device
	Devices     float64
	Efficiency  float64 // achieved share of the peak
	Rate        float64 // price of a device-hour
	Measured    float64 // tokens per second of all devices
	MFUAToken   float64 // FLOPs a token by PaLM's count
}

// tokensAParameter is the ratio at which Chinchilla's approaches 1 and 2 meet
// (arXiv:2203.15556, table 3: 67 B parameters, 1.5 T tokens; 10 B, 205 B).
const tokensAParameter = 20

// Train answers for a budget. Time is FLOPs / (devices · peak · efficiency).
func Train(b Budget) (Training, error) {
	t, err := train(b)
	if err == nil {
		t.explain(&b)
	}
	return t, err
}

func train(b Budget) (Training, error) {
	if b.Parameters <= 0 || b.Total <= 0 {
		return Training{}, errors.New("the number of parameters is not known")
	}
	t := Training{Parameters: b.Parameters, Tokens: b.Tokens, Rule: b.Rule, PeakFLOPs: b.Peak, Devices: b.Devices, Efficiency: b.Efficiency,
		Assumptions: []string{}}
	if !b.Encoder {
		tokens := tokensAParameter * float64(b.Total)
		t.OptimalTokens, t.OptimalRule = &tokens, fmt.Sprintf("20 for each of all %s parameters, arXiv:2203.15556", groupedInt(b.Total))
	}
	if t.Tokens == 0 {
		if b.Encoder {
			return Training{}, errors.New("name the number of tokens: no rule says how many are enough for a model that generates nothing")
		}
		t.Tokens = *t.OptimalTokens
	}
	if b.FLOPsAToken == 0 {
		b.FLOPsAToken = 6 * float64(b.Parameters)
		t.Rule = "6 · P · T"
	}
	t.FLOPs = b.FLOPsAToken * t.Tokens
	if b.Measured > 0 && b.Peak > 0 && b.Devices > 0 {
		mfu := b.Measured * b.MFUAToken / (b.Peak * b.Devices)
		t.MFU, t.MFURule = &mfu, "tokens per second · (6N + 12·L·H·Q·T) / peak, arXiv:2204.02311"
		t.TokensASec, t.Efficiency = b.Measured, b.Measured*b.FLOPsAToken/(b.Peak*b.Devices)
		t.time(t.Tokens/b.Measured, b.Rate)
		return t, nil
	}
	if b.Peak <= 0 || b.Devices <= 0 {
		return t, nil
	}
	if b.Efficiency <= 0 || b.Efficiency > 1 {
		return Training{}, fmt.Errorf("efficiency %g is not a share of the peak between 0 and 1", b.Efficiency)
	}
	seconds := t.FLOPs / (b.Peak * b.Devices * b.Efficiency)
	t.TokensASec = t.Tokens / seconds
	t.time(seconds, b.Rate)
	return t, nil
}

func (t *Training) time(seconds, rate float64) {
	t.Seconds, t.Days, t.DeviceHours = seconds, seconds/86400, seconds/3600*t.Devices
	if rate > 0 {
		t.Rate = rate
		cost := t.DeviceHours * rate
		t.Cost = &cost
	}
}

// MFU returns the share of the peak that so many device-hours of training
// reached: FLOPs / (hours · 3600 · peak).
func MFU(flops, deviceHours, peak float64) float64 { return flops / (deviceHours * 3600 * peak) }
