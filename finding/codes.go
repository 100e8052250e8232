package finding

import "slices"

// Code is a kind of finding.
type Code struct {
	Code     string
	Name     string
	Severity Severity
	Cause    string // one sentence
	Remedy   string // one clause; "" where there is nothing to do
}

// Codes returns the table of codes, in order.
func Codes() []Code { return slices.Clone(codes) }

// Lookup finds a code, by its number or by its name.
func Lookup(code string) (Code, bool) {
	i := slices.IndexFunc(codes, func(c Code) bool { return c.Code == code || c.Name == code })
	if i < 0 {
		return Code{}, false
	}
	return codes[i], true
}

var codes = []Code{
	// 1xx: files and headers.
	{"HFI101", "header_refused", Error, "The reference library refuses the file.", ""},
	{"HFI102", "file_unreadable", Error, "A file of the set cannot be read.", "fetch it again"},
	{"HFI103", "header_oddity", Note, "Readers accept the header, though its writer did something unusual.", ""},
	{"HFI104", "duplicate_name", Warning, "A name occurs twice in one header; readers keep the last.", "write the file again"},

	// 2xx: sets of files and their index.
	{"HFI201", "shard_missing", Error, "A shard that the index or the numbering calls for is not there.", "fetch it; the counts are those of the other files"},
	{"HFI202", "index_names_absent_tensor", Error, "The index maps a tensor to a file that does not hold it.", "write the index again from the headers"},
	{"HFI203", "index_wrong_shard", Warning, "The index maps a tensor to another file than the one that holds it.", "write the index again from the headers"},
	{"HFI204", "tensor_not_in_index", Warning, "A shard holds a tensor that the index does not name.", "write the index again from the headers"},
	{"HFI205", "shard_not_in_index", Warning, "A weight file stands beside the set and no index names it.", "remove it, or write the index again"},
	{"HFI206", "declared_size_wrong", Warning, "The index's total_size is not the sum of the headers.", "write the index again from the headers"},
	{"HFI207", "declared_parameters_wrong", Warning, "The index's total_parameters is none of the counts.", "write the index again from the headers"},
	{"HFI208", "duplicate_tensor", Error, "Two files hold a tensor of the same name; which one is loaded depends on their order.", "keep one"},
	{"HFI209", "index_refused", Error, "The index cannot be used.", "write it again from the headers"},
	{"HFI210", "unsafe_path", Error, "The index names a file outside its folder.", "do not load this checkpoint before you know why"},
	{"HFI211", "other_weights", Note, "The source holds other sets of weights, which are not counted.", ""},
	{"HFI212", "set_chosen", Note, "The weights were chosen among several.", ""},
	{"HFI213", "hub_metadata_differs", Warning, "The Hub's own parameter figures are not those of the headers.", ""},
	{"HFI214", "total_overflow", Error, "A sum over the checkpoint does not fit 63 bits.", "do not trust the file"},
	{"HFI215", "hub_counts_otherwise", Note, "The Hub's own parameter figure is another count of the same weights.", ""},
	{"HFI216", "tensor_not_read", Error, "A tensor that the model needs is in a file that the index does not name; the reference library would fill it with random values.", "write the index again from the headers"},

	// 3xx: config.json.
	{"HFI301", "config_missing", Warning, "There is no config.json; roles are inferred from names.", "put the config beside the weights"},
	{"HFI302", "config_unreadable", Error, "config.json cannot be read; roles are inferred from names.", "mend it"},
	{"HFI303", "config_field", Error, "A field of config.json cannot be used.", "mend the field"},
	{"HFI304", "config_oddity", Warning, "config.json has something that not every reader accepts.", ""},
	{"HFI305", "architecture_not_described", Warning, "The architecture has no description here; roles are inferred from names.", ""},
	{"HFI306", "class_guessed", Note, "config.json names no class; it was chosen by the stored names.", ""},
	{"HFI307", "dtype_differs", Note, "config.json declares another dtype than the file has.", ""},
	{"HFI308", "class_defaults", Note, "config.json leaves sizes of the model to the class's defaults.", ""},
	{"HFI309", "field_misspelt", Warning, "config.json has a field that the class does not know and that looks like one it lacks.", "mend the field's name"},
	{"HFI310", "class_of_other_type", Warning, "config.json names a class of another model type.", "set model_type and architectures to belong together"},

	// 4xx: the ledger.
	{"HFI401", "tensor_missing", Error, "The config calls for a tensor that the file does not hold.", "the reference library would fill it with random values"},
	{"HFI402", "tensor_unexpected", Error, "The file holds a tensor that nothing calls for.", ""},
	{"HFI403", "shape_mismatch", Error, "A tensor has another shape than the config calls for.", "the config or the file is of another model"},
	{"HFI404", "tied_copy_stored", Note, "The file stores a tied tensor a second time.", ""},
	{"HFI405", "tie_under_other_name", Note, "Of two tied tensors the file keeps the one that is usually dropped.", ""},
	{"HFI406", "buffers_stored", Note, "The file stores buffers, which are no parameters.", ""},
	{"HFI407", "base_prefix_missing", Note, "The names lack the base model's prefix; the reference library adds it.", ""},
	{"HFI408", "base_prefix_extra", Note, "The names carry a base prefix that the class does not have; the reference library drops it.", ""},
	{"HFI409", "wrapper_prefix", Error, "The names carry the prefix of a wrapper; the reference library would find no weights and fill the model with random values.", "take the prefix out of the names, or save the model without its wrapper"},
	{"HFI410", "legacy_names", Note, "The names have legacy suffixes; the reference library renames them.", ""},
	{"HFI411", "vocabulary_larger", Error, "The embeddings have more rows than the config's vocabulary; the reference library refuses the file.", "set vocab_size to the stored rows"},
	{"HFI412", "vocabulary_smaller", Error, "The embeddings have fewer rows than the config's vocabulary.", "set vocab_size to the stored rows"},
	{"HFI413", "other_head", Note, "The file holds the weights of another head of the same body.", ""},
	{"HFI414", "prediction_layers", Note, "The file holds prediction layers beside the model; the class does not load them.", ""},
	{"HFI415", "layers_beyond_config", Warning, "The file holds more layers than the config has.", "set num_hidden_layers to what the file holds, or remove them"},
	{"HFI416", "layers_missing", Error, "The config has more layers than the file holds.", "set num_hidden_layers to what the file holds"},
	{"HFI417", "biases_beyond_config", Warning, "The file holds biases that the config switches off.", "switch them on in the config"},
	{"HFI418", "mixed_dtypes", Note, "Parameters are stored in more than one dtype.", ""},
	{"HFI419", "dtype_within_layers", Warning, "The same tensor has different dtypes in different layers.", ""},
	{"HFI420", "integer_parameter", Error, "A parameter is stored as integers without a quantisation that explains it.", ""},
	{"HFI421", "head_missing", Warning, "The output head is not in the file.", "the reference library would fill it with random values"},
	{"HFI422", "prediction_layers_absent", Warning, "The config promises prediction layers that the file does not hold.", ""},
	{"HFI423", "buffer_missing", Warning, "A buffer that the reference library saves with the model is not in the file.", "the library would start it from its initial value"},
	{"HFI424", "part_prefix", Note, "A part of the model has its names under another prefix, as another version of the reference library writes them.", ""},
	{"HFI425", "buffer_odd", Warning, "A tensor has the name and the place of a buffer, and a shape or dtype that the config does not give it.", "see what wrote it; it is not counted as a parameter"},
	{"HFI426", "dtype_odd", Warning, "A parameter has another dtype than those around it, and is none that is known to be kept apart.", "see what wrote it"},

	// 5xx: quantised storage.
	{"HFI501", "quantisation_undeclared", Error, "The tensors are quantised and the config does not say so; the reference library would take packed values for weights.", "put its quantization_config into config.json"},
	{"HFI502", "quantisation_method_differs", Error, "The tensors are those of another quantisation method than the config names.", "correct quant_method"},
	{"HFI503", "quantisation_absent", Warning, "The config declares a quantisation and no tensor is quantised.", "remove the quantization_config, or quantise"},
	{"HFI504", "quantisation_part_missing", Error, "A quantised weight lacks a companion, such as its scales.", "take the file from its source again"},
	{"HFI505", "quantisation_part_shape", Error, "A quantised weight, or a companion of one, has another shape or dtype than its layout calls for.", "take the file from its source again"},
	{"HFI506", "quantisation_values_differ", Error, "The values beside a quantised weight contradict the config or the tensors.", "do not trust the file"},
	{"HFI507", "quantisation_parameters_differ", Error, "Layout, numbers, bits, groups or blocks are not those that the config declares.", "correct the quantization_config"},
	{"HFI508", "quantisation_uneven", Warning, "Modules of one file are quantised in different ways, and the config does not say so.", ""},
	{"HFI509", "quantisation_orphan", Error, "Companions of a quantised weight stand in the file without it.", "take the file from its source again"},
	{"HFI510", "scales_absent", Error, "Weights are stored in eight bits without the scales that give them their size.", "take the file from its source again"},
	{"HFI511", "quantiser_biases", Note, "The quantiser wrote a bias for linears that have none; the reference library ignores it.", ""},
	{"HFI512", "module_not_quantised", Note, "A weight that the config has quantised is stored as it is.", ""},
	{"HFI513", "quantised_weights_lost", Error, "The quantiser rounded sizes down, and weights at the edges are lost.", "quantise again with a current version"},
	{"HFI514", "scales_without_effect", Note, "A weight that is not quantised has scales beside it.", ""},
	{"HFI515", "quantisation_refused", Error, "The reference library does not load this layout.", "load it with the library that wrote it"},
	{"HFI516", "left_out_quantised", Error, "A weight that the config leaves out is quantised; the reference library would take packed values for weights.", "take the module off the config's list"},
	{"HFI517", "weight_not_packed", Error, "A weight is stored as it is, with scales, where the reference library expects a packed one and would multiply it by them.", "take the file from its source again"},
	{"HFI518", "quantisation_values_unread", Note, "Values beside quantised weights were not read.", "a local copy is checked whole"},

	// 6xx: adapters.
	{"HFI601", "adapter_config_missing", Warning, "There is no adapter_config.json; kinds of tensors are inferred from names.", "put the config beside the weights"},
	{"HFI602", "adapter_base_unknown", Warning, "The base model was not found: whether all tensors are there cannot be told.", "name a base that can be read"},
	{"HFI603", "adapter_method_not_described", Warning, "The adapter's method has no description here.", ""},
	{"HFI604", "adapter_name_in_names", Error, "The names carry the adapter's own name; peft would not find them and load nothing.", "take the name out"},
	{"HFI605", "adapter_prefix", Error, "The names do not begin as peft's do; it would not find them and load nothing.", "exchange the prefix"},
	{"HFI606", "adapter_field", Error, "The adapter's config cannot be put on its base.", "mend the field, or name the right base"},
	{"HFI607", "adapter_targets_nothing", Error, "None of the adapter's targets is a module of the base.", "name the right base, or correct the targets"},
	{"HFI608", "adapter_config_unreadable", Error, "adapter_config.json cannot be read; kinds of tensors are inferred from names.", "mend it"},
	{"HFI609", "base_copy_in_adapter", Note, "peft stores the base's table below an adapted embedding; it is no parameter of the adapter.", ""},
	{"HFI610", "module_saved_whole", Note, "The adapter trains a module of the base and stores it whole.", ""},
	{"HFI611", "base_tensor_in_adapter", Warning, "The adapter holds a whole tensor of the base that its config does not ask for, such as an embedding that was resized.", "leave it out unless the vocabulary was resized"},
	{"HFI612", "prompt_encoder_not_stored", Note, "The encoder that made the virtual tokens was trained and is not stored.", ""},
	{"HFI613", "adapter_config_oddity", Warning, "adapter_config.json has something that not every reader accepts.", ""},
	{"HFI614", "adapter_base_names", Note, "The adapter has the names of the base's modules in memory, which are not those of published files.", ""},

	// 7xx: layouts and damage.
	{"HFI701", "projections_fused", Error, "Projections that the class has apart are stored as one tensor; the reference library would fill them with random values.", "split the tensor, one for each projection"},
	{"HFI702", "projections_split", Error, "Projections that the class has in one tensor are stored apart; the reference library would fill them with random values.", "join them into one tensor"},
	{"HFI703", "experts_stacked", Note, "The experts of a layer are stored in one tensor, as newer libraries hold them in memory.", ""},
	{"HFI704", "experts_transposed", Error, "The experts of a layer are stored in one tensor whose rows and columns are exchanged; the reference library refuses it.", "exchange them"},
	{"HFI705", "experts_unstacked", Error, "Experts are stored one by one that the class has in one tensor; the reference library would fill them with random values.", "stack them"},
	{"HFI706", "names_in_memory", Note, "The names are those of the library's modules instead of those of published files; the reference library reads both.", ""},
	{"HFI707", "original_names", Error, "The file has the names of the model's makers; the reference library would find no weights and fill the model with random values.", "convert it"},
	{"HFI708", "tensor_emptied", Error, "A tensor was saved empty: a distributed training (ZeRO-3, FSDP) saved one process only.", "gather the weights and save again"},
	{"HFI709", "flat_slice", Error, "A tensor was saved as a flat slice: a distributed training (FSDP) saved one process only.", "gather the weights and save again"},
	{"HFI710", "one_rank", Error, "The file is one rank of a parallel save.", "merge the ranks"},
	{"HFI711", "parallel_ranks", Error, "Each file holds a share of every matrix; the reference library would keep one of them.", "merge the ranks"},
	{"HFI712", "shared_storage", Note, "Tensors that share their storage are stored once, as the file's metadata says.", ""},
	{"HFI713", "experts_missing", Error, "The config has more experts than the file holds.", "set the number of experts to what the file holds"},
	{"HFI714", "experts_beyond_config", Warning, "The file holds more experts than the config has.", "set the number of experts to what the file holds"},
	{"HFI715", "flat_parameter", Error, "The file holds the flat parameters of a sharded training (FSDP), in which no single weight can be told.", "gather the weights and save again"},
	{"HFI716", "channels_last", Error, "Convolutions are stored with their channels last, as other frameworks have them; the reference library refuses them.", "move the channels to the second place"},

	// 8xx: what an audit asks besides.
	{"HFI801", "parameters_not_expected", Error, "The number of parameters is not the expected one.", ""},
	{"HFI802", "pickle_beside", Warning, "A pickle stands beside the weights; who loads it runs code that its author chose.", "remove it, or load safetensors only"},
	{"HFI803", "dtypes_within_role", Warning, "Matrices of one role are stored in more than one dtype.", "save them in one, unless they are meant to differ"},
	{"HFI804", "shard_numbers", Warning, "The numbers of the shards have gaps, or are those of more than one set.", "write the set again"},
	{"HFI805", "token_id_beyond", Warning, "A special token's id is beyond the rows of the embedding.", "set the id, or resize the embedding"},
	{"HFI806", "tokenizer_beyond", Warning, "The tokenizer gives ids that have no row in the embedding; looking them up fails.", "resize the embedding, or take the tokens out"},
	{"HFI807", "tokenizer_smaller", Note, "The embedding has more rows than the tokenizer has tokens, as padding does it.", ""},
	{"HFI808", "tokenizer_unreadable", Warning, "A file of the tokenizer cannot be read.", "mend it"},
}
