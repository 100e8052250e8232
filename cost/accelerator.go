package cost

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Accelerator is what a vendor's data sheet says of a device. Peaks are dense
// (no structured sparsity), in TFLOP/s; 0 is not supported, or not published. A
// data sheet's GB of memory are 2³⁰ bytes (an H100 of 80 GB reports 81,559 MiB,
// the rest is the driver's; error correction takes a sixteenth of GDDR), those
// of bandwidth 10⁹.
type Accelerator struct {
	Name         string  `json:"name"`
	MemoryGiB    int64   `json:"memory_gib"` // "GB" in the data sheet
	BandwidthGBs float64 `json:"bandwidth_gb_per_second"`
	FP32         float64 `json:"fp32_tflops"` // of the products in FP32As
	BF16         float64 `json:"bf16_tflops"` // of the products in BF16As
	FP8          float64 `json:"fp8_tflops"`
	INT8         float64 `json:"int8_tops"`
	FP4          float64 `json:"fp4_tflops"`
	LinkGBs      float64 `json:"link_gb_per_second"` // to the other devices of a node, both directions
	FP32As       string  `json:"fp32_products"`      // tf32 where tensor cores take 32-bit matrices as that, fp32
	BF16As       string  `json:"bf16_products"`      // bf16; fp16 on devices without it
	Source       string  `json:"source"`
}

// Accelerators returns the table, by vendor and age.
func Accelerators() []Accelerator { return slices.Clone(accelerators) }

// MemoryBytes returns the memory of one device.
func (a Accelerator) MemoryBytes() *big.Int {
	return new(big.Int).Lsh(big.NewInt(a.MemoryGiB), 30)
}

// FindAccelerator looks a device up by name; case, spaces and dashes do not
// matter, and a part of a name will do, or one with the size of the memory
// (H100-80GB): the first that has it is meant.
func FindAccelerator(name string) (Accelerator, error) {
	key := accelerator(name)
	var starts []Accelerator
	for _, a := range accelerators {
		if accelerator(a.Name) == key {
			return a, nil
		}
		if strings.HasPrefix(accelerator(a.Name), key) {
			starts = append(starts, a)
		}
	}
	if len(starts) > 0 {
		return starts[0], nil // the table has the most usual form first
	}
	for _, a := range accelerators { // 4090
		if len(key) >= 3 && strings.Contains(accelerator(a.Name), key) {
			return a, nil
		}
	}
	if a, ok := bySize(name); ok {
		return a, nil
	}
	var names []string
	for _, a := range accelerators {
		names = append(names, a.Name)
	}
	return Accelerator{}, fmt.Errorf("accelerator %q is not in the table: %s", name, strings.Join(names, ", "))
}

func accelerator(name string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
}

// bySize finds a name that ends in the size of the memory, as clouds write them:
// A100-80GB.
func bySize(name string) (Accelerator, bool) {
	at := strings.LastIndexAny(name, "-_ ")
	if at < 0 {
		return Accelerator{}, false
	}
	first, size := accelerator(name[:at]), strings.ToLower(name[at+1:])
	for _, a := range accelerators {
		if first != "" && strings.HasPrefix(accelerator(a.Name), first) && size == fmt.Sprintf("%dgb", a.MemoryGiB) {
			return a, true
		}
	}
	return Accelerator{}, false
}

// Peak returns the dense peak for a dtype in FLOP/s.
func (a Accelerator) Peak(dtype string) (float64, error) {
	peak := 0.0
	switch dtype {
	case "fp32":
		peak = a.FP32
	case "bf16", "fp16":
		peak = a.BF16
	case "fp8":
		peak = a.FP8
	case "int8":
		peak = a.INT8
	case "fp4", "int4":
		peak = a.FP4
	}
	if peak == 0 {
		return 0, fmt.Errorf("%s has no published dense peak in %s", a.Name, dtype)
	}
	return peak * 1e12, nil
}

// Products returns the dtype that a device multiplies matrices of a dtype in: of
// what its peak is.
func (a Accelerator) Products(dtype string) string {
	switch {
	case dtype == "fp32" && a.FP32As != "":
		return a.FP32As
	case dtype == "bf16" && a.BF16As != "":
		return a.BF16As
	}
	return dtype
}

// otherProducts says so where a device has no products in a 16-bit dtype.
func (a Accelerator) otherProducts(dtype string) string {
	if other := a.Products(dtype); dtype == "bf16" && other != dtype {
		return fmt.Sprintf("%s has no %s: its peak is of %s", a.Name, dtype, other)
	}
	return ""
}

// accelerators: memory GiB, bandwidth GB/s, then dense peaks in FP32, BF16, FP8,
// INT8, FP4, the link, and what the first two peaks are of.
var accelerators = []Accelerator{
	{"A100-SXM-80GB", 80, 2039, 156, 312, 0, 624, 0, 600, "tf32", "bf16", "NVIDIA A100 data sheet, 2021"},
	{"A100-SXM-40GB", 40, 1555, 156, 312, 0, 624, 0, 600, "tf32", "bf16", "NVIDIA A100 data sheet, 2021"},
	{"A100-PCIe-80GB", 80, 1935, 156, 312, 0, 624, 0, 600, "tf32", "bf16", "NVIDIA A100 data sheet, 2021"},
	{"H100-SXM", 80, 3350, 494.5, 989, 1979, 1979, 0, 900, "tf32", "bf16", "NVIDIA H100 data sheet, 2023"},
	{"H100-NVL", 94, 3900, 417.5, 835, 1671, 1671, 0, 600, "tf32", "bf16", "NVIDIA H100 data sheet, 2024"},
	{"H100-PCIe", 80, 2000, 378, 756, 1513, 1513, 0, 600, "tf32", "bf16", "NVIDIA H100 data sheet, 2022"},
	{"H200-SXM", 141, 4800, 494.5, 989, 1979, 1979, 0, 900, "tf32", "bf16", "NVIDIA H200 data sheet, 2023"},
	{"H20", 96, 4000, 74, 148, 296, 296, 0, 900, "tf32", "bf16", "NVIDIA H20 data sheet, 2024"},
	{"B200-SXM", 180, 7700, 1125, 2250, 4500, 4500, 9000, 1800, "tf32", "bf16", "NVIDIA Blackwell architecture brief, HGX B200, 2024"},
	{"GB200", 186, 8000, 1250, 2500, 5000, 5000, 10000, 1800, "tf32", "bf16", "NVIDIA GB200 NVL72 data sheet, one GPU, 2024"},
	{"B300-SXM", 270, 7700, 1100, 2250, 4500, 150, 13500, 1800, "tf32", "bf16", "NVIDIA HGX B300 specifications, 2025"},
	{"V100-SXM-32GB", 32, 900, 15.7, 125, 0, 0, 0, 300, "fp32", "fp16", "NVIDIA V100 data sheet, 2020"},
	{"V100-SXM-16GB", 16, 900, 15.7, 125, 0, 0, 0, 300, "fp32", "fp16", "NVIDIA V100 data sheet, 2020"},
	{"T4", 16, 320, 8.1, 65, 0, 130, 0, 32, "fp32", "fp16", "NVIDIA T4 data sheet, 2019"},
	{"A10", 24, 600, 62.5, 125, 0, 250, 0, 64, "tf32", "bf16", "NVIDIA A10 data sheet, 2021"},
	{"A10G", 24, 600, 35, 70, 0, 140, 0, 64, "tf32", "bf16", "NVIDIA A10G product brief, 2021"},
	{"A40", 48, 696, 74.8, 149.7, 0, 299.3, 0, 112.5, "tf32", "bf16", "NVIDIA A40 data sheet, 2021"},
	{"RTX-A6000", 48, 768, 77.4, 154.8, 0, 309.7, 0, 112.5, "tf32", "bf16", "NVIDIA RTX A6000 data sheet, 2021"},
	{"L4", 24, 300, 60, 121, 242, 242, 0, 64, "tf32", "bf16", "NVIDIA L4 data sheet, 2023"},
	{"L40S", 48, 864, 183, 362, 733, 733, 0, 64, "tf32", "bf16", "NVIDIA L40S data sheet, 2023"},
	{"L40", 48, 864, 90.5, 181, 362, 362, 0, 64, "tf32", "bf16", "NVIDIA L40 data sheet, 2022"},
	{"RTX-3090", 24, 936, 35.6, 71, 0, 284, 0, 112.5, "tf32", "bf16", "NVIDIA GA102 white paper, FP32 accumulation, 2021"},
	{"RTX-4090", 24, 1008, 82.6, 165.2, 330.3, 660.6, 0, 64, "tf32", "bf16", "NVIDIA Ada white paper, FP32 accumulation, 2022"},
	{"RTX-5090", 32, 1792, 104.8, 209.5, 419, 838, 1676, 128, "tf32", "bf16", "NVIDIA RTX Blackwell white paper, FP32 accumulation, 2025"},
	{"MI250X", 128, 3277, 95.7, 383, 0, 383, 0, 800, "fp32", "bf16", "AMD MI250X data sheet, 2021; both dies"},
	{"MI300X", 192, 5300, 653.7, 1300, 2614.9, 2614.9, 0, 896, "tf32", "bf16", "AMD MI300X data sheet, 2023; rounded by its press"},
	{"MI325X", 256, 6000, 653.7, 1307.4, 2614.9, 2614.9, 0, 896, "tf32", "bf16", "AMD MI325X data sheet, 2024"},
	{"MI355X", 288, 8000, 0, 2516.6, 5033.2, 5033.2, 10066.3, 1075, "", "bf16", "AMD MI355X data sheet, 2025"},
	{"TPU-v4", 32, 1228, 0, 275, 0, 275, 0, 300, "", "bf16", "Google Cloud TPU v4 documentation"},
	{"TPU-v5e", 16, 819, 0, 197, 0, 393, 0, 200, "", "bf16", "Google Cloud TPU v5e documentation"},
	{"TPU-v5p", 95, 2765, 0, 459, 0, 918, 0, 600, "", "bf16", "Google Cloud TPU v5p documentation"},
	{"TPU-v6e", 32, 1640, 0, 918, 0, 1836, 0, 448, "", "bf16", "Google Cloud TPU v6e documentation"},
	{"Gaudi2", 96, 2450, 0, 432, 865, 0, 0, 600, "", "bf16", "Intel Gaudi 2 white paper, 2023"},
	{"Gaudi3", 128, 3700, 0, 1835, 1835, 0, 0, 1200, "", "bf16", "Intel Gaudi 3 white paper, 2024"},
}
