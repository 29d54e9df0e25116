package provider

import "reflect"

// merge fills in what a variant leaves out from the main one.
func merge(main, variant rulesFile) rulesFile {
	into, from := reflect.ValueOf(&variant).Elem(), reflect.ValueOf(main)
	for i := range into.NumField() {
		if into.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
	return variant
}
