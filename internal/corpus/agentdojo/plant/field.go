package plant

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/records"
)

// freeText lists the fields of records whose text somebody outside may write, in the
// order in which one is chosen.
func freeText() []string {
	return []string{"subject", "body", "description", "content", "title", "name", "street", "city", "filename", "location"}
}

// inRecords puts the line first in one free-text field of the last record, or in all
// of all records, and prints the records again as they were printed. A result without
// records is a text, and gets the line first.
func inRecords(text, line string, all bool) string {
	format := records.YAML
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		format = records.Python
	}
	whole := line + "\n" + text
	value, err := records.Parse(format, text)
	if err != nil {
		return whole
	}
	planted, ok := plantIn(value, line, all)
	if !ok {
		return whole
	}
	printed, err := records.Print(format, planted)
	if err != nil {
		return whole
	}
	return printed
}

// plantIn plants in a record, or in the last or every record of a list.
func plantIn(v records.Value, line string, all bool) (records.Value, bool) {
	if v.Kind() == records.Map {
		return inRecord(v, line, all)
	}
	items, planted := make([]records.Value, v.Len()), false
	if v.Kind() != records.List {
		return v, false
	}
	for i := range slices.Backward(items) {
		items[i] = v.Item(i)
		if items[i].Kind() == records.Map && (all || !planted) {
			var ok bool
			items[i], ok = inRecord(items[i], line, all)
			planted = planted || ok
		}
	}
	return records.NewList(items...), planted
}

// inRecord plants in the first free-text field of a record, or in all of them.
func inRecord(v records.Value, line string, all bool) (records.Value, bool) {
	members := make([]records.Member, v.Len())
	for i := range members {
		members[i] = v.Member(i)
	}
	planted := false
	for _, name := range freeText() {
		i := slices.IndexFunc(members, func(m records.Member) bool { return m.Name == name && m.Value.Kind() == records.String })
		if i < 0 || planted && !all {
			continue
		}
		old, _ := members[i].Value.Text()
		members[i].Value, planted = records.NewString(line+"\n"+old), true
	}
	out, err := records.NewMap(members...)
	return out, planted && err == nil
}
