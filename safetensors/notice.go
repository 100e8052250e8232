package safetensors

import "strconv"

// NoticeKind says which oddity a [Notice] is about.
type NoticeKind uint8

// The kinds of [Notice].
const (
	NoticeDuplicateTensor NoticeKind = iota // a name twice: the last entry counts
	NoticeDuplicateKey                      // a key twice in __metadata__: the last counts
	NoticeUnknownField                      // a field that the format does not have
	NoticeEmptyName                         // a tensor named ""
	NoticeNullMetadata                      // __metadata__ is null
	NoticeArrayEntry                        // an entry in array form
	NoticeLeadingSpace                      // white space before the JSON object
	NoticeHeaderUnaligned                   // data does not begin at a multiple of 8
	NoticeTensorUnaligned                   // data not aligned to the element size; Count tensors
	NoticeOutOfOrder                        // header order is not data order
	NoticeHugeDimension                     // a dimension over 2^63-1 beside a 0; shown as 2^63-1
	NoticeHeaderLarge                       // header over 25,000,000 bytes, which huggingface_hub refuses

	// Sets of files.
	NoticeIndexBesideSingle // a single file and an index: the single file wins
	NoticeVariantOnly       // only a variant is there
	NoticeNoIndex           // shards without an index
	NoticeSubfolder         // no weights at the root, those of a subfolder taken
	NoticeSeveral           // several sets that no rule ranks: the largest taken
	NoticeIndexDuplicate    // a name twice in the weight map: the last counts
)

var noticeNames = [...]string{
	NoticeDuplicateTensor:   "duplicate_tensor_name",
	NoticeDuplicateKey:      "duplicate_metadata_key",
	NoticeUnknownField:      "unknown_field",
	NoticeEmptyName:         "empty_tensor_name",
	NoticeNullMetadata:      "null_metadata",
	NoticeArrayEntry:        "array_entry",
	NoticeLeadingSpace:      "leading_space",
	NoticeHeaderUnaligned:   "header_unaligned",
	NoticeTensorUnaligned:   "tensor_unaligned",
	NoticeOutOfOrder:        "out_of_order",
	NoticeHugeDimension:     "huge_dimension",
	NoticeHeaderLarge:       "header_large",
	NoticeIndexBesideSingle: "index_beside_single_file",
	NoticeVariantOnly:       "variant_only",
	NoticeNoIndex:           "no_index",
	NoticeSubfolder:         "subfolder_chosen",
	NoticeSeveral:           "several_sets",
	NoticeIndexDuplicate:    "duplicate_index_name",
}

// String is a stable identifier, "duplicate_tensor_name" for example.
func (k NoticeKind) String() string {
	if int(k) < len(noticeNames) {
		return noticeNames[k]
	}
	return "notice(" + strconv.Itoa(int(k)) + ")"
}

// MarshalText writes the identifier.
func (k NoticeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Notice is an oddity that readers accept.
type Notice struct {
	Kind   NoticeKind
	Tensor string // tensor, metadata key or file concerned; may be empty
	Offset int64  // byte offset in the file of the first occurrence; -1 where it means nothing
	Count  int    // how often; 1 for most kinds
	Detail string // one sentence
}
