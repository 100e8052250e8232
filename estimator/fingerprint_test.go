package estimator

import (
	"reflect"
	"testing"
)

// notPrinted are the fields by which equal layers may differ: functions, which
// their names and sizes stand for.
var notPrinted = map[string]bool{"FLOPs": true}

// TestFingerprintSeesEveryField changes each field of a block, however deep, and
// wants another fingerprint: a field that is forgotten would fold unlike layers.
func TestFingerprintSeesEveryField(t *testing.T) {
	whole := func() *Block {
		return &Block{Params: []Param{{Shape: []Size{Const(1)}}}, Scores: &Scores{}, States: []State{{}}, Extra: &Extra{Sizes: []Size{Const(1)}},
			View: &View{}, Index: Only(1), Sub: []Block{{}}}
	}
	print := func(b *Block) string {
		var f fingerprint
		f.block(b)
		return string(f.buffer)
	}
	plain, fields := print(whole()), 0
	var visit func(path string, at func(*Block) reflect.Value)
	visit = func(path string, at func(*Block) reflect.Value) {
		b := whole()
		v := at(b)
		switch {
		case v.Type() == reflect.TypeFor[Size]():
			v.Set(reflect.ValueOf(Const(77)))
		case v.Type() == reflect.TypeFor[Indices]():
			v.Set(reflect.ValueOf(Only(5)))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if !notPrinted[name] {
					visit(path+"."+name, func(b *Block) reflect.Value { return at(b).Field(i) })
				}
			}
			return
		case v.Kind() == reflect.Pointer:
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
				break
			}
			visit(path, func(b *Block) reflect.Value { return at(b).Elem() })
			return
		case v.Kind() == reflect.Slice && v.Len() > 0 && v.Type() != reflect.TypeFor[[]Block](), v.Kind() == reflect.Array:
			visit(path+"[0]", func(b *Block) reflect.Value { return at(b).Index(0) })
			return
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		case v.Kind() == reflect.String:
			v.SetString("x")
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.CanInt():
			v.SetInt(77)
		case v.CanUint():
			v.SetUint(7)
		case v.CanFloat():
			v.SetFloat(7)
		default:
			t.Errorf("%s: a field of kind %s", path, v.Kind())
			return
		}
		fields++
		if print(b) == plain {
			t.Errorf("%s is not in the fingerprint", path)
		}
	}
	visit("Block", func(b *Block) reflect.Value { return reflect.ValueOf(b).Elem() })
	if fields < 50 {
		t.Errorf("only %d fields", fields)
	}
}
