// Records how Go's strconv and encoding/json write and read numbers and strings.
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
)

var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 0.1, 0.3, 1.5, 9.5, 10, 100, 1000, 99999, 100000, 999999, 1000000, 1234567.5, 12345678, 1e20, 1e21, 123456789e13, 1e22, 1e23, 1e-4, 1e-5, 0.00012, 0.000012, 1e-6, 1e-7, 9.99e-7, 1e-10, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
	9007199254740993, 9007199254740992, 4503599627370496.5, 5e-45, 2e-44, 8.41e21, 2.0e22, 9.5e-20, 3.14159, 2.5, 3.5, 1.25, 1.35, 0.1 + 0.2, 1 / 3.0, 2 / 3.0, 1e100, 123456, 1234567, 33554432.5, 16777217, math.Inf(1), math.Inf(-1), math.NaN(), 4.35, 0.000001, 1e15, 1e16, 1e17, 123e-20, 5e-5, 7e-9, 1.1e-9, 1.5e300,
}

var numbers = []string{
	"", "0", "-0", "+0", "1", "-1", "+1", "+-1", "--1", "007", "0x1F", "0X1f", "0x", "0b101", "0B2", "0o17", "0O8", "017", "08", "0_1", "1_000", "1__0", "_1", "1_", "0x_1", "0_x1", "1e3", "1E3", "1e", "1e+", "1.5", ".5", "5.", ".", "-.5", "1.5.2", "1e400", "-1e400", "1e-400", "4.9e-324", "2.4e-324", "2.5e-324", "inf", "Inf", "+inf", "-Infinity", "infinit", "nan", "NaN", "-nan", "0x1p4", "0x1.8p1", "0x1", "0x.p1", "0x1p", "0x1p-1074", "0x1p-1075", "0x1.fffffffffffff8p1023",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "99999999999999999999", "1 ", " 1", "1a", "é", "\u0661", "1e1_0", "1_0.5", "0.1_2", "1.7976931348623159e308", "9007199254740993", "123456789012345678901234567890", "0.1e1", "1e-5", "00", "0e0", "1p3", "0xep1", "0xe+1",
}

var strings = []string{
	"", "a", "a\"b", "a'b", "a\\b", "a`b", "\a\b\f\n\r\t\v", "\x00\x01\x1f\x7f", "é", "日本", "😀", "\u00a0", "\u00ad", "\u2028\u2029", "\u200b", "\ufeff", "\ue000", "\U000e0001", "\U0010ffff", "\ufffd", "\u0378", "\u0301", "\u3000", "\u1680", "a\tb", "$", "<>&",
}

var quoted = []string{
	`""`, `"a"`, `"a`, `a"`, `a`, ``, `"`, `'a'`, `'ab'`, "`a`", "`a\r\nb`", "`a``b`", "`", `"\a\b\f\n\r\t\v\\\""`, `"\'"`, `"\q"`, `"\x41"`, `"\x4"`, `"\u00e9"`, `"\u00g9"`, `"\ud800"`, `"\U0001F600"`, `"\U00110000"`, `"\101"`, `"\400"`, `"\08"`, `"\xff"`, "\"a\nb\"", `"é"`, `"a"b"`, `"\`, `"\"`,
}

type float struct {
	Bits   string            `json:"bits"`
	Short  string            `json:"short"`
	Short3 string            `json:"short32"`
	JSON   string            `json:"json,omitempty"`
	Verbs  map[string]string `json:"verbs"`
}

type number struct {
	Text  string `json:"text"`
	Int   string `json:"int"`
	Uint  string `json:"uint"`
	Atoi  string `json:"atoi"`
	Float string `json:"float"`
}

func answer[T any](value T, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(value)
}

func main() {
	var out struct {
		Floats  []float            `json:"floats"`
		Numbers []number           `json:"numbers"`
		Quoted  [][2]string        `json:"quoted"`
		Plain   map[string]*string `json:"unquoted"`
	}
	for _, value := range floats {
		row := float{Bits: strconv.FormatUint(math.Float64bits(value), 16), Short: strconv.FormatFloat(value, 'g', -1, 64), Short3: strconv.FormatFloat(value, 'g', -1, 32), Verbs: map[string]string{}}
		if text, err := json.Marshal(value); err == nil {
			row.JSON = string(text)
		}
		for _, verb := range "efgGEbxX" {
			for _, precision := range []int{-1, 0, 1, 2, 6, 17, 20} {
				row.Verbs[fmt.Sprintf("%c%d", verb, precision)] = strconv.FormatFloat(value, byte(verb), precision, 64)
			}
		}
		out.Floats = append(out.Floats, row)
	}
	for _, text := range numbers {
		row := number{Text: text}
		i, err := strconv.ParseInt(text, 0, 64)
		row.Int = answer(i, err)
		u, err := strconv.ParseUint(text, 0, 64)
		row.Uint = answer(u, err)
		a, err := strconv.Atoi(text)
		row.Atoi = answer(a, err)
		f, err := strconv.ParseFloat(text, 64)
		row.Float = answer(strconv.FormatFloat(f, 'g', -1, 64), err)
		out.Numbers = append(out.Numbers, row)
	}
	for _, text := range strings {
		out.Quoted = append(out.Quoted, [2]string{text, strconv.Quote(text)})
	}
	out.Plain = map[string]*string{}
	for _, text := range quoted {
		if plain, err := strconv.Unquote(text); err == nil && text[0] != '\'' && plain != "\xff" {
			out.Plain[text] = &plain
		} else if plain != "\xff" {
			out.Plain[text] = nil
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	encoder.Encode(out)
}
