package limits

import "github.com/vektah/gqlparser/v2/ast"

// maxComparisons bounds the comparisons of fields that a document needs. Each takes about a tenth of a microsecond, and so do a few names that
// are looked for in another selection set.
const (
	maxComparisons     = 10_000
	namesPerComparison = 4
)

// comparisons returns how many comparisons validation makes to see whether the fields of a document can be merged (section 5.3.2 of the GraphQL
// specification), or more than [maxComparisons] if it makes more.
//
// It compares each field with those of the same response name in its selection set, with their arguments, and then the selections below both. It
// does all of this again in each selection set around the fields, and for each operation and fragment that leads there. The number follows the rule
// of gqlparser step by step, also in what that remembers: estimates have refused what was cheap, and accepted what was expensive. But it knows no
// types. So it does not see that two fields have different ones, which ends their comparison, or makes it necessary once more.
func comparisons(doc *ast.QueryDocument) int {
	c := comparer{
		fragments:     doc.Fragments,
		sets:          map[*ast.Selection]*mergedSet{},
		withFragments: map[setAndFragment]bool{},
		ofFragments:   map[[2]string]bool{},
	}
	for _, operation := range doc.Operations {
		c.inOperation, c.visited = true, map[string]bool{}
		c.walk(operation.SelectionSet)
		c.within(operation.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		c.inOperation, c.visited = false, map[string]bool{}
		c.walk(fragment.SelectionSet)
		c.within(fragment.SelectionSet)
	}
	return c.made
}

// comparer counts comparisons, until there are too many.
type comparer struct {
	fragments ast.FragmentDefinitionList
	sets      map[*ast.Selection]*mergedSet // by their first selections
	made      int

	withFragments map[setAndFragment]bool // that were compared
	ofFragments   map[[2]string]bool

	inOperation bool            // of the walk: in a fragment, the selections of fields are not compared
	visited     map[string]bool // fragments
}

// mergedSet is a selection set with its inline fragments expanded.
type mergedSet struct {
	fields   map[string][]*ast.Field // by response name
	repeated []string                // names of more than one field
	spreads  []string
}

type setAndFragment struct {
	set      *mergedSet
	fragment string
}

func (c *comparer) tooMany() bool { return c.made > maxComparisons }

// walk compares within all selection sets below one, those of the fragments that it leads to included.
func (c *comparer) walk(set ast.SelectionSet) {
	for _, selection := range set {
		if c.tooMany() {
			return
		}
		switch selection := selection.(type) {
		case *ast.Field:
			c.walk(selection.SelectionSet)
			if c.inOperation {
				c.within(selection.SelectionSet)
			}
		case *ast.InlineFragment:
			c.walk(selection.SelectionSet)
			c.within(selection.SelectionSet)
		case *ast.FragmentSpread:
			if definition := c.fragments.ForName(selection.Name); definition != nil && !c.visited[selection.Name] {
				c.visited[selection.Name] = true
				c.walk(definition.SelectionSet)
			}
		}
	}
}

// within compares the fields of one selection set and of the fragments that it spreads.
func (c *comparer) within(selections ast.SelectionSet) {
	set := c.merged(selections)
	for _, name := range set.repeated {
		fields := set.fields[name]
		for i, field := range fields {
			c.fieldWith(field, fields[i+1:])
		}
	}
	for i, spread := range set.spreads {
		c.setWithFragment(set, spread)
		c.fragmentWith(spread, set.spreads[i+1:])
	}
}

func (c *comparer) between(a, b *mergedSet) {
	c.made += len(a.fields) / namesPerComparison
	for name, fields := range a.fields {
		for _, field := range fields {
			c.fieldWith(field, b.fields[name])
		}
	}
}

func (c *comparer) setWithFragment(set *mergedSet, name string) {
	if c.made++; c.tooMany() || c.withFragments[setAndFragment{set, name}] {
		return
	}
	c.withFragments[setAndFragment{set, name}] = true
	fragment := c.fragment(name)
	if fragment == set {
		return
	}
	c.between(set, fragment)
	for _, spread := range fragment.spreads {
		c.setWithFragment(set, spread)
	}
}

func (c *comparer) fragmentWith(name string, others []string) {
	for _, other := range others {
		if c.made++; c.tooMany() {
			return
		}
		if name == other || c.ofFragments[[2]string{name, other}] {
			continue
		}
		c.ofFragments[[2]string{name, other}], c.ofFragments[[2]string{other, name}] = true, true
		a, b := c.fragment(name), c.fragment(other)
		c.between(a, b)
		c.fragmentWith(name, b.spreads)
		c.fragmentWith(other, a.spreads)
	}
}

func (c *comparer) fieldWith(field *ast.Field, others []*ast.Field) {
	for _, other := range others {
		if c.made += 1 + argumentComparisons(field.Arguments, other.Arguments); c.tooMany() {
			return
		}
		if len(field.SelectionSet) == 0 && len(other.SelectionSet) == 0 {
			continue
		}
		a, b := c.merged(field.SelectionSet), c.merged(other.SelectionSet)
		c.between(a, b)
		for _, spread := range b.spreads {
			c.setWithFragment(a, spread)
		}
		for _, spread := range a.spreads {
			c.setWithFragment(b, spread)
			c.fragmentWith(spread, b.spreads)
		}
	}
}

// argumentComparisons returns how many comparisons those of two lists of arguments may take: the names of each with all others, and the values of
// those with the same name.
func argumentComparisons(as, bs ast.ArgumentList) int {
	n := 0
	for _, a := range as {
		for _, b := range bs {
			n++
			if a.Name == b.Name {
				n += valuesIn(a.Value)
			}
		}
	}
	return n
}

// valuesIn counts a value and those in it.
func valuesIn(value *ast.Value) int {
	n := 1
	for _, child := range value.Children {
		n += valuesIn(child.Value)
	}
	return n
}

func (c *comparer) fragment(name string) *mergedSet {
	if definition := c.fragments.ForName(name); definition != nil {
		return c.merged(definition.SelectionSet)
	}
	return c.merged(nil)
}

// merged returns the same set for the same selections. All empty ones are one.
func (c *comparer) merged(selections ast.SelectionSet) *mergedSet {
	var first *ast.Selection
	if len(selections) > 0 {
		first = &selections[0]
	}
	set := c.sets[first]
	if set == nil {
		set = &mergedSet{fields: map[string][]*ast.Field{}}
		set.add(selections)
		c.sets[first] = set
	}
	return set
}

func (s *mergedSet) add(selections ast.SelectionSet) {
	for _, selection := range selections {
		switch selection := selection.(type) {
		case *ast.Field:
			fields := append(s.fields[selection.Alias], selection)
			if s.fields[selection.Alias] = fields; len(fields) == 2 {
				s.repeated = append(s.repeated, selection.Alias)
			}
		case *ast.InlineFragment:
			s.add(selection.SelectionSet)
		case *ast.FragmentSpread:
			s.spreads = append(s.spreads, selection.Name)
		}
	}
}
