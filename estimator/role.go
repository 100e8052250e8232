package estimator

// Role says what a tensor is for. It decides under which row of the ledger and
// which definition of a count its elements stand.
type Role uint8

// The roles. Norm covers weight and bias of every normalisation; the biases of
// linears keep the role of their linear and are marked apart.
const (
	NoRole Role = iota
	TokenEmbedding
	PositionEmbedding
	TypeEmbedding
	Attention
	MLP
	Router
	RoutedExperts
	SharedExperts
	Norm
	StateSpace
	Convolution
	Head       // output projection onto the vocabulary
	HeadLayers // layers between the body and the output projection
	Pooler
	Classifier
	Projector // from one tower's width to another's
	Other
)

var roleNames = [...]string{
	"", "token_embedding", "position_embedding", "type_embedding", "attention", "mlp", "router",
	"routed_experts", "shared_experts", "norm", "state_space", "convolution", "head", "head_layers",
	"pooler", "classifier", "projector", "other",
}

// String returns the role as the JSON result spells it.
func (r Role) String() string { return roleNames[r] }
