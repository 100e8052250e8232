package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The parts of XML Schema that JUnit's schema uses. A part that is not known here
// makes the test fail rather than pass.

type xsdElement struct {
	Name    string      `xml:"name,attr"`
	Type    string      `xml:"type,attr"`
	Min     string      `xml:"minOccurs,attr"`
	Max     string      `xml:"maxOccurs,attr"`
	Complex *xsdComplex `xml:"complexType"`
	Simple  *xsdSimple  `xml:"simpleType"`
}

type xsdComplex struct {
	Name       string         `xml:"name,attr"`
	Sequence   *xsdGroup      `xml:"sequence"`
	Choice     *xsdGroup      `xml:"choice"`
	Attributes []xsdAttribute `xml:"attribute"`
	Content    *xsdExtended   `xml:"complexContent>extension"`
	Text       *xsdExtended   `xml:"simpleContent>extension"`
}

type xsdExtended struct {
	Base       string         `xml:"base,attr"`
	Attributes []xsdAttribute `xml:"attribute"`
}

type xsdGroup struct {
	Min      string       `xml:"minOccurs,attr"`
	Elements []xsdElement `xml:"element"`
}

type xsdAttribute struct {
	Name   string     `xml:"name,attr"`
	Type   string     `xml:"type,attr"`
	Use    string     `xml:"use,attr"`
	Simple *xsdSimple `xml:"simpleType"`
}

type xsdSimple struct {
	Name        string `xml:"name,attr"`
	Restriction struct {
		Base    string `xml:"base,attr"`
		Pattern *struct {
			Value string `xml:"value,attr"`
		} `xml:"pattern"`
		MinLength *struct {
			Value int `xml:"value,attr"`
		} `xml:"minLength"`
	} `xml:"restriction"`
}

type xsdSchema struct {
	Elements []xsdElement `xml:"element"`
	Complex  []xsdComplex `xml:"complexType"`
	Simple   []xsdSimple  `xml:"simpleType"`
}

type xmlNode struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []xmlNode  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (s *xsdSchema) element(e *xsdElement, n *xmlNode) error {
	if e.Complex != nil {
		return s.complexType(e.Complex, n)
	}
	for i := range s.Complex {
		if s.Complex[i].Name == e.Type {
			return s.complexType(&s.Complex[i], n)
		}
	}
	if len(n.Children)+len(n.Attrs) > 0 {
		return fmt.Errorf("%s has members", e.Name)
	}
	return s.simple(e.Type, e.Simple, n.Text)
}

func (s *xsdSchema) complexType(c *xsdComplex, n *xmlNode) error {
	sequence, choice, attributes := c.Sequence, c.Choice, c.Attributes
	if x := c.Content; x != nil {
		attributes = append(attributes, x.Attributes...)
		for i := range s.Complex {
			if s.Complex[i].Name == x.Base {
				sequence, attributes = s.Complex[i].Sequence, append(attributes, s.Complex[i].Attributes...)
			}
		}
	}
	if c.Text != nil {
		attributes = append(attributes, c.Text.Attributes...)
	} else if strings.TrimSpace(n.Text) != "" {
		return fmt.Errorf("%s has text %q", n.XMLName.Local, n.Text)
	}
	if err := s.attributes(attributes, n); err != nil {
		return err
	}
	if choice != nil {
		if len(n.Children) == 0 && choice.Min == "0" {
			return nil
		}
		if len(n.Children) != 1 {
			return fmt.Errorf("%s has %d children, want one", n.XMLName.Local, len(n.Children))
		}
		for i := range choice.Elements {
			if choice.Elements[i].Name == n.Children[0].XMLName.Local {
				return s.element(&choice.Elements[i], &n.Children[0])
			}
		}
		return fmt.Errorf("%s in %s", n.Children[0].XMLName.Local, n.XMLName.Local)
	}
	return s.sequence(sequence, n)
}

func (s *xsdSchema) sequence(g *xsdGroup, n *xmlNode) error {
	at := 0
	if g != nil {
		for i := range g.Elements {
			e := &g.Elements[i]
			count := 0
			for at < len(n.Children) && n.Children[at].XMLName.Local == e.Name {
				if err := s.element(e, &n.Children[at]); err != nil {
					return err
				}
				at, count = at+1, count+1
			}
			if count == 0 && e.Min != "0" || count > 1 && e.Max != "unbounded" {
				return fmt.Errorf("%s has %d times %s", n.XMLName.Local, count, e.Name)
			}
		}
	}
	if at < len(n.Children) {
		return fmt.Errorf("%s has %s out of place", n.XMLName.Local, n.Children[at].XMLName.Local)
	}
	return nil
}

func (s *xsdSchema) attributes(known []xsdAttribute, n *xmlNode) error {
	given := make(map[string]string)
	for _, a := range n.Attrs {
		given[a.Name.Local] = a.Value
	}
	for _, a := range known {
		value, ok := given[a.Name]
		if !ok {
			if a.Use == "required" {
				return fmt.Errorf("%s lacks the attribute %s", n.XMLName.Local, a.Name)
			}
			continue
		}
		delete(given, a.Name)
		if err := s.simple(a.Type, a.Simple, value); err != nil {
			return fmt.Errorf("%s, attribute %s: %w", n.XMLName.Local, a.Name, err)
		}
	}
	for name := range given {
		return fmt.Errorf("%s has an attribute %s", n.XMLName.Local, name)
	}
	return nil
}

func (s *xsdSchema) simple(name string, inline *xsdSimple, value string) error {
	for i := range s.Simple {
		if inline == nil && s.Simple[i].Name == name {
			inline = &s.Simple[i]
		}
	}
	if inline != nil {
		r := &inline.Restriction
		if r.Pattern != nil && !regexp.MustCompile("^(?:"+r.Pattern.Value+")$").MatchString(value) {
			return fmt.Errorf("%q does not match %s", value, r.Pattern.Value)
		}
		if r.MinLength != nil && len(value) < r.MinLength.Value {
			return fmt.Errorf("%q is too short", value)
		}
		return s.simple(r.Base, nil, value)
	}
	var err error
	switch name {
	case "xs:string", "pre-string", "xs:dateTime":
	case "xs:token":
		if strings.Join(strings.Fields(value), " ") != value {
			err = fmt.Errorf("%q is no token", value)
		}
	case "xs:int":
		_, err = strconv.ParseInt(value, 10, 32)
	case "xs:decimal":
		_, err = strconv.ParseFloat(value, 64)
	default:
		err = fmt.Errorf("type %q is not known", name)
	}
	return err
}

// validateXML holds a document against the schema of a file.
func validateXML(t *testing.T, file string, document []byte) error {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var schema xsdSchema
	if err := xml.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var root xmlNode
	if err := xml.Unmarshal(document, &root); err != nil {
		return err
	}
	for i := range schema.Elements {
		if schema.Elements[i].Name == root.XMLName.Local {
			return schema.element(&schema.Elements[i], &root)
		}
	}
	return fmt.Errorf("no element %s", root.XMLName.Local)
}
