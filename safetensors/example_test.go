package safetensors_test

import (
	"context"
	"fmt"

	"github.com/hf-inspect/hf-inspect/safetensors"
	st "github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

func ExampleParseHeader() {
	header := []byte(`{"wte":{"dtype":"BF16","shape":[4,8],"data_offsets":[0,64]},"bias":{"dtype":"F32","shape":[8],"data_offsets":[72,104]}}`)
	h, err := safetensors.ParseHeader(header, 104)
	if err != nil {
		fmt.Println(err) // nothing to count
		return
	}
	for i := range h.Tensors {
		t := &h.Tensors[i]
		fmt.Println(t.Name, t.DType, t.Shape, t.Elements())
	}
	fmt.Println("the reference says:", h.Err())
	// Output:
	// wte BF16 [4 8] 32
	// bias F32 [8] 8
	// the reference says: tensor "bias": data_offsets [72,104] leave a hole of 8 bytes that belong to no tensor (byte 199)
}

func ExampleReadCheckpoint() {
	ctx := context.Background()
	src := st.NewFolder(map[string]st.Blob{
		"model-00001-of-00002.safetensors": st.Sparse(st.T("a", "BF16", 1000, 1000)),
		"model-00002-of-00002.safetensors": st.Sparse(st.T("b", "BF16", 1000)),
		"pytorch_model.bin":                {Size: 2_002_000},
	})
	files, _ := src.List(ctx)
	choice, err := safetensors.Choose(safetensors.Sets(files), safetensors.ChooseOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := safetensors.ReadCheckpoint(ctx, src, choice.Set, safetensors.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Totals().Elements, c.Complete, choice.Others[0].Name())
	// Output: 1001000 true pytorch_model.bin
}
