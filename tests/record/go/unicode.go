// Records what Go's unicode says of every character: a line for each function, with the ranges for which it is true, or
// with the ranges that it maps and how far.
//go:debug default=go1.26
package main

import (
	"fmt"
	"unicode"
)

const last = unicode.MaxRune

// Calls report for each longest range of characters with the same value, surrogates left out.
func ranges(value func(rune) rune, report func(low, high, value rune)) {
	low, current := rune(0), value(0)
	flush := func(high rune) {
		if current != 0 {
			report(low, high, current)
		}
	}
	before := rune(0)
	for r := rune(1); r <= last; r++ {
		if r == 0xd800 {
			r = 0xe000
		}
		if v := value(r); v != current || r != before+1 {
			flush(before)
			low, current = r, v
		}
		before = r
	}
	flush(last)
}

func main() {
	classes := []struct {
		name string
		is   func(rune) bool
	}{
		{"IsLetter", unicode.IsLetter}, {"IsDigit", unicode.IsDigit}, {"IsNumber", unicode.IsNumber},
		{"IsUpper", unicode.IsUpper}, {"IsLower", unicode.IsLower}, {"IsTitle", unicode.IsTitle},
		{"IsPunct", unicode.IsPunct}, {"IsSpace", unicode.IsSpace}, {"IsPrint", unicode.IsPrint},
	}
	for _, class := range classes {
		fmt.Print(class.name)
		value := func(r rune) rune {
			if class.is(r) {
				return 1
			}
			return 0
		}
		ranges(value, func(low, high, _ rune) { fmt.Printf(" %x-%x", low, high) })
		fmt.Println()
	}
	mappings := []struct {
		name string
		to   func(rune) rune
	}{
		{"ToUpper", unicode.ToUpper}, {"ToLower", unicode.ToLower}, {"ToTitle", unicode.ToTitle},
		{"SimpleFold", unicode.SimpleFold},
	}
	for _, mapping := range mappings {
		fmt.Print(mapping.name)
		ranges(func(r rune) rune { return mapping.to(r) - r }, func(low, high, by rune) {
			fmt.Printf(" %x-%x:%d", low, high, by)
		})
		fmt.Println()
	}
}
