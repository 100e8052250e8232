package main

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// memoryFlags are the flags of the memory command.
type memoryFlags struct {
	train      bool
	batch, seq lengths
	encoder    length
	images     imageFlags
	chunk      length
	dtype      string
	quantise   string
	kvDType    string
	overhead   size
	gpu        string
	attention  string
	dropout    string
	masks      string
	recompute  string
	optimizer  string
	master     string
	gradients  string
	lora       int64
	targets    string
	qlora      bool
	kv         kvFlags
	parallel   cost.Parallel
	explain    bool
}

func newMemory(s *settings) *cobra.Command {
	var m memoryFlags
	var shape shapeFlags
	cmd := &cobra.Command{
		Use:   "memory MODEL|CONFIG...",
		Short: "Memory of inference or of a training step, whether it fits, and how fast it can be",
		Example: "  hf-inspect memory Llama-3.1-8B --seq 8192 --gpu A10,H100\n" +
			"  hf-inspect memory gpt2-xl --train --batch 8 --seq 1024 --optimizer adamw --recompute full\n" +
			"  hf-inspect memory Qwen3-0.6B --quantization int4-g128 --dtype bf16 --gpu 4090\n" +
			"  hf-inspect memory Llama-3.1-70B --train --tensor-parallel 8 --data-parallel 8 --zero 1 --gpu H100",
		Args: shape.orModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if _, err := m.plans(1, ""); err != nil {
				return usageError{err}
			}
			return s.memory(cmd, args, &shape, &m)
		},
	}
	m.add(cmd.Flags())
	shape.add(cmd.Flags())
	return cmd
}

func (m *memoryFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&m.train, "train", false, "a training step instead of inference")
	m.batch = lengths{1}
	f.Var(&m.batch, "batch", "sequences, in training of a device's micro-batch; a list gives a table")
	f.Var(&m.seq, "seq", "tokens of each sequence; a list gives a table (default 4096, or the config's positions if fewer)")
	f.Var(&m.encoder, "encoder-seq", "tokens of the encoder (default: as --seq)")
	m.images.add(f)
	f.StringVar(&m.dtype, "dtype", "", "dtype of weights and activations: fp32, fp16, bf16, fp8, int8, int4; a list gives a table (default: as stored, else bf16)")
	f.StringVar(&m.quantise, "quantization", "", "format of the layers' matrices: nf4, nf4-single, int4-g128, int8-row, fp8-block")
	f.StringVar(&m.kvDType, "kv-dtype", "", "dtype of the cache (default: 16 bits, or fp32 with it)")
	_ = m.overhead.Set("1GB")
	f.Var(&m.overhead, "overhead", "context and fragmentation on a device: an assumption, beside the total")
	f.StringVar(&m.gpu, "gpu", "", "accelerators to fit on, such as A100-80GB,H100-SXM")
	f.StringVar(&m.attention, "attention", "fused", "attention kernel: eager, fused, math")
	f.StringVar(&m.dropout, "dropout", "config", "dropout where the class has it: on, off, config (its rates)")
	f.StringVar(&m.masks, "dropout-masks", "byte", "element of a dropout mask: byte (accelerators), activation (CPU)")
	f.StringVar(&m.recompute, "recompute", "none", "computed again for the backward pass: none, selective, full")
	f.StringVar(&m.optimizer, "optimizer", "adamw", "adamw, amsgrad, adam8bit, sgd, momentum, adafactor")
	f.StringVar(&m.master, "master-weights", "on", "32-bit weights beside 16-bit ones: on, off")
	f.StringVar(&m.gradients, "gradient-dtype", "", "dtype of gradients (default: as the weights)")
	f.Int64Var(&m.lora, "lora", 0, "train adapters of this rank instead of the weights")
	f.StringVar(&m.targets, "lora-targets", "all", "matrices that get adapters: all, attention")
	f.BoolVar(&m.qlora, "qlora", false, "adapters on weights in nf4 (rank 16 without --lora)")
	m.kv.addStorage(f)
	f.Var(&m.chunk, "chunk", "tokens of a prefill's pass at most (default: all at once)")
	m.addParallel(f)
	addExplain(f, &m.explain)
}

func (m *memoryFlags) addParallel(f *pflag.FlagSet) {
	p := &m.parallel
	f.Int64Var(&p.Data, "data-parallel", 1, "replicas of the model")
	f.Int64Var(&p.Tensor, "tensor-parallel", 1, "devices that share each matrix")
	f.Int64Var(&p.Pipeline, "pipeline-parallel", 1, "stages of layers")
	f.Int64Var(&p.Context, "context-parallel", 1, "devices that share the tokens of a sequence")
	f.Int64Var(&p.Expert, "expert-parallel", 1, "devices that share the experts, within the replicas")
	f.BoolVar(&p.Sequence, "sequence-parallel", false, "share out norms and dropout in the tensor-parallel group")
	f.Int64Var(&p.Zero, "zero", 0, "ZeRO stage: 1 optimizer, 2 gradients, 3 weights (FSDP) over the replicas")
	f.StringVar(&p.Schedule, "schedule", "1f1b", "of the pipeline: gpipe, 1f1b, interleaved")
	f.Int64Var(&p.Microbatches, "microbatches", 1, "micro-batches of a step, for gpipe")
	f.Int64Var(&p.Virtual, "virtual-stages", 1, "stages of a device, for interleaved")
}

// checkParallel refuses sizes that count no devices, which the library takes for
// unset.
func (m *memoryFlags) checkParallel() error {
	p := &m.parallel
	for _, axis := range []struct {
		name string
		size int64
	}{{"data-parallel", p.Data}, {"tensor-parallel", p.Tensor}, {"pipeline-parallel", p.Pipeline}, {"context-parallel", p.Context},
		{"expert-parallel", p.Expert}, {"microbatches", p.Microbatches}, {"virtual-stages", p.Virtual}} {
		if axis.size < 1 {
			return fmt.Errorf("--%s counts from 1", axis.name)
		}
	}
	return nil
}

// plans are the questions that the flags ask of each model: one for each dtype,
// batch and sequence. No dtype means as stored, computed in the one that most of
// it has.
func (m *memoryFlags) plans(usual int64, stored string) ([]cost.MemoryPlan, error) {
	plan, err := m.plan()
	if err != nil {
		return nil, err
	}
	var plans []cost.MemoryPlan
	for dtype := range strings.SplitSeq(m.dtype, ",") {
		plan := plan
		if plan.DType, err = cost.ParseElementType(orText(strings.TrimSpace(dtype), orText(stored, "bf16"))); err != nil {
			return nil, err
		}
		if plan.KVType, err = cost.ParseElementType(orText(m.kvDType, cacheType(plan.DType))); err != nil {
			return nil, err
		}
		for _, batch := range m.batch {
			for _, seq := range m.seq.or(usual) {
				if batch < 1 || seq < 1 || m.encoder < 0 {
					return nil, errors.New("--batch, --seq and --encoder-seq count from 1")
				}
				plan.Batch, plan.Seq = batch, seq
				plans = append(plans, plan)
			}
		}
	}
	return plans, nil
}

func cacheType(t cost.ElementType) string {
	if t.Bytes.Cmp(big.NewRat(2, 1)) < 0 {
		return "bf16"
	}
	return t.Name
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// choose returns the place of a flag's value among those that it can have.
func choose(flag, value string, allowed ...string) (int, error) {
	if at := slices.Index(allowed, value); at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("--%s is %q, want one of %s", flag, value, strings.Join(allowed, ", "))
}

// plan reads what is the same for all dtypes, batches and sequences.
func (m *memoryFlags) plan() (cost.MemoryPlan, error) {
	if err := m.checkParallel(); err != nil {
		return cost.MemoryPlan{}, err
	}
	plan := cost.MemoryPlan{Train: m.train, LoRA: m.lora, Parallel: m.parallel, MaskBytes: 1, Chunk: int64(m.chunk), Overhead: m.overhead.bytes}
	for _, flag := range []struct {
		name, value string
		allowed     []string
		set         func(place int)
	}{
		{"attention", m.attention, []string{"eager", "fused", "math"}, func(at int) { plan.Kernel = estimator.Kernel(at) }},
		{"recompute", m.recompute, []string{"none", "selective", "full"}, func(at int) { plan.Recompute = estimator.Recompute(at) }},
		{"master-weights", m.master, []string{"on", "off"}, func(at int) { plan.Master = at == 0 }},
		{"lora-targets", m.targets, []string{"all", "attention"}, func(at int) { plan.LoRAAttention = at == 1 }},
		{"dropout", m.dropout, []string{"on", "off", "config"}, func(int) {}},
		{"dropout-masks", m.masks, []string{"byte", "activation"}, func(int) {}},
	} {
		at, err := choose(flag.name, flag.value, flag.allowed...)
		if err != nil {
			return plan, err
		}
		flag.set(at)
	}
	var err error
	if plan.KV, err = m.kv.options(); err != nil {
		return plan, err
	}
	if plan.Sight, err = m.images.sight(); err != nil {
		return plan, err
	}
	if plan.Optimizer, err = cost.FindOptimizer(m.optimizer); err != nil {
		return plan, err
	}
	if err := m.formats(&plan); err != nil {
		return plan, err
	}
	plan.Accelerators, err = accelerators(m.gpu)
	return plan, err
}

// accelerators looks up a list of names.
func accelerators(names string) ([]cost.Accelerator, error) {
	var list []cost.Accelerator
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		a, err := cost.FindAccelerator(name)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// formats reads how weights and gradients are kept.
func (m *memoryFlags) formats(plan *cost.MemoryPlan) error {
	if m.lora < 0 || m.chunk < 0 {
		return errors.New("--lora and --chunk cannot be negative")
	}
	if (m.lora > 0 || m.qlora) && !m.train {
		return errors.New("--lora and --qlora are for --train")
	}
	name := m.quantise
	if m.qlora {
		name = orText(name, "nf4")
		if plan.LoRA == 0 {
			plan.LoRA = 16
		}
	}
	if name != "" {
		format, err := cost.FindWeightFormat(name)
		if err != nil {
			return err
		}
		plan.Format = &format
	}
	if m.gradients != "" {
		t, err := cost.ParseElementType(m.gradients)
		if err != nil || !t.Bytes.IsInt() {
			return fmt.Errorf("--gradient-dtype is %q, want fp32, bf16 or fp16", m.gradients)
		}
		plan.GradientBytes = t.Bytes.Num().Int64()
	}
	return nil
}

func (s *settings) memory(cmd *cobra.Command, models []string, shape *shapeFlags, m *memoryFlags) error {
	var all []report.ModelMemory
	var beyond [][]string
	for _, name := range shape.names(models) {
		e, err := s.estimateOr(cmd, name, shape)
		if err != nil {
			return err
		}
		var stored storedWeights
		if m.dtype == "" && m.quantise == "" && !m.train {
			stored = s.storedWeights(cmd, name, shape, e.Described)
		}
		plans, err := m.plans(usualSeq(e.Described, usualTokens), stored.dtype)
		if err != nil {
			return usageError{err}
		}
		for _, plan := range plans {
			plan.Stored, plan.Beside = stored.loaded, stored.beside
			plan.EncoderSeq = encoderSeq(e.Described, m.encoder, plan.Seq)
			switch m.dropout {
			case "on":
				plan.Dropout = true
			case "config":
				plan.Dropout = e.Described.Training.ResidualDropout > 0 || e.Described.Training.AttentionDropout > 0
			}
			if m.masks == "activation" {
				plan.MaskBytes = max(2, plan.DType.Bytes.Num().Int64())
			}
			mem, err := cost.MemoryOf(e.Described, plan)
			if err != nil {
				return usageError{err}
			}
			if stored.loaded != nil {
				mem.DType = "as stored"
			}
			all = append(all, report.ModelMemory{SchemaVersion: e.SchemaVersion, Model: e.Source.Location, Architecture: e.Model.Architecture, Memory: mem})
			beyond = append(beyond, cost.BeyondPositions(e.Described, plan.Seq))
		}
	}
	s.note(cmd, len(all), func(i int) (string, []string) { return all[i].Model, beyond[i] })
	return report.Memory(cmd.OutOrStdout(), s.format, all, s.style(cmd.OutOrStdout()), m.explain)
}

// storedWeights are a checkpoint's bytes by whether the model's class loads them.
type storedWeights struct {
	loaded *big.Int         // nil: no weights are at hand
	beside []cost.NotLoaded // what the files hold besides
	dtype  string           // of the computation: that of most bytes that are loaded
}

func (s *settings) storedWeights(cmd *cobra.Command, name string, shape *shapeFlags, m *estimator.Model) storedWeights {
	if _, isConfig, _ := configFile(name); isConfig || name == standardInput || shape.given() {
		return storedWeights{}
	}
	quiet := *s
	quiet.quiet, quiet.progress = true, "never"
	in, err := quiet.inspectModel(cmd.Context(), name, cmd.ErrOrStderr())
	if err != nil || !in.Source.Complete {
		return storedWeights{}
	}
	return sortStored(in, m)
}

// sortStored sorts the bytes of stored tensors by whether the class loads them.
func sortStored(in *inspect.Inspection, m *estimator.Model) storedWeights {
	buffers := make(map[string]bool)
	for _, t := range m.Tensors() {
		buffers[t.Template] = t.Buffer
	}
	w := storedWeights{loaded: new(big.Int)}
	byType := make(map[string]*big.Int)
	for i := range in.Result.Claims {
		c := &in.Result.Claims[i]
		what := notLoaded[c.Status]
		isLoaded := what == "" || c.Status == reconcile.Buffer && buffers[c.Name]
		bytes := new(big.Int)
		for member := range c.Members() {
			size := big.NewInt(member.Tensor.Bytes())
			bytes.Add(bytes, size)
			if isLoaded {
				addTo(byType, computedIn[member.Tensor.DType], size)
			}
		}
		if isLoaded {
			w.loaded.Add(w.loaded, bytes)
			continue
		}
		at := slices.IndexFunc(w.beside, func(n cost.NotLoaded) bool { return n.What == what })
		if at < 0 {
			at = len(w.beside)
			w.beside = append(w.beside, cost.NotLoaded{What: what, Bytes: new(big.Int)})
		}
		w.beside[at].Bytes.Add(w.beside[at].Bytes, bytes)
	}
	w.beside = slices.DeleteFunc(w.beside, func(n cost.NotLoaded) bool { return n.Bytes.Sign() == 0 })
	w.dtype = mostly(byType, w.loaded)
	return w
}

func addTo(sums map[string]*big.Int, key string, n *big.Int) {
	if sums[key] == nil {
		sums[key] = new(big.Int)
	}
	sums[key].Add(sums[key], n)
}

// mostly is what more than half of the whole is, "" where nothing is.
func mostly(parts map[string]*big.Int, whole *big.Int) string {
	for name, part := range parts {
		if twice := new(big.Int).Lsh(part, 1); twice.Cmp(whole) > 0 {
			return name
		}
	}
	return ""
}

// computedIn are the dtypes that weights are multiplied in as they are stored;
// with all others it is bf16.
var computedIn = map[safetensors.DType]string{safetensors.F64: "fp32", safetensors.F32: "fp32", safetensors.F16: "fp16", safetensors.BF16: "bf16"}

// notLoaded names the stored tensors of a status that take no memory while the
// model runs.
var notLoaded = map[reconcile.Status]string{
	reconcile.Tied:       "second copies of tied weights",
	reconcile.Buffer:     "masks and other buffers that are made anew",
	reconcile.Section:    "prediction layers and other parts beside the model",
	reconcile.OtherHead:  "heads of other classes",
	reconcile.Beyond:     "layers beyond the config",
	reconcile.Duplicate:  "duplicates",
	reconcile.Unexpected: "tensors that the class does not know",
}
