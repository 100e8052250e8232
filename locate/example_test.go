package locate_test

import (
	"fmt"

	"github.com/hf-inspect/hf-inspect/locate"
)

func ExampleParseRef() {
	for _, model := range []string{
		"gpt2",
		"stabilityai/sdxl-turbo@main//unet",
		"hf://org/name@refs/pr/7/original",
		"https://huggingface.co/org/name/blob/main/model.safetensors?download=true",
	} {
		ref, err := locate.ParseRef(model, "https://huggingface.co")
		fmt.Printf("%+v %v\n", ref, err)
	}
	// Output:
	// gpt2 <nil>
	// stabilityai/sdxl-turbo@main//unet <nil>
	// org/name@refs/pr/7//original <nil>
	// org/name@main//model.safetensors <nil>
}
