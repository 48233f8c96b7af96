// Records how Go's regexp compiles and matches.
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
)

var patterns = []string{
	// Classes of Unicode.
	`\p{L}+`, `\pL+`, `\PL+`, `\P{L}+`, `\p{^L}+`, `\pN`, `\p{Lu}\p{Ll}*`, `\p{Greek}+`, `\p{Grek}`, `\p{Script=Greek}`,
	`\p{sc=Greek}`, `\p{gc=L}`, `\p{IsGreek}`, `\p{InGreek}`, `\p{Letter}+`, `\p{letter}+`, `\p{Lowercase_Letter}`, `\p{lowercase letter}`,
	`\p{L_}`, `\p{LC}+`, `\p{Cn}`, `\p{Any}+`, `\p{any}`, `\p{ASCII}+`, `\p{Assigned}+`, `\p{Alphabetic}`, `\p{Emoji}`, `\p{Alpha}`,
	`\p{Nd}+`, `\p{digit}`, `\p{punct}+`, `\p{Punctuation}+`, `\p{Cntrl}`, `\p{Cs}`, `\p{Co}`, `\p{Zs}`, `\p{So}+`, `\p{Braille}`,
	`\p{Latin}+`, `\p{latin}+`, `\p{Latn}`, `\p{Old_Italic}`, `\p{OldItalic}`, `\p{old-italic}`, `\p{Han}+`, `\p{Hani}`, `\p{Common}`, `\p{Inherited}`,
	`\p{Zyyy}`, `\p{}`, `\p{`, `\p`, `\pé`, `\p{X}`, `\p{L`, `\p{L&}`, `\p{ L }`, `\p{Unknown}`, `\p{Zzzz}`, `\p{C}+`, `\p{Other}`, `\pX`, `\P`,
	`[\p{L}]+`, `[^\p{L}]+`, `[\P{L}]`, `[\p{L}\d]+`, `[\p{Grek}]`, `(?i)\p{Lu}+`, `(?i)\p{Greek}+`, `(?i)[^\p{Lu}]+`,
	`[\x{D800}]`, `[^\x{D800}]+`, `[\x{D000}-\x{E000}]`, `[\x{D800}-\x{DFFF}a]`, `[\x{DC00}-\x{FFFF}]`, `(?i)\x{D800}`, `\p{Phags_Pa}`, `\p{PHAGS PA}`, `\p{gREEK}+`, `\p{Todhri}`, `\p{Other_Symbol}+`, `\p{SPACING mark}`, `\p{-}`, `\p{^}`, `\p{^^L}`, `\P{^greek}+`,
	`\p{Co}`, `\p{Unassigned}`, `\P{Cn}+`, `\P{Any}`, `(?i)\p{Ll}+`, `(?i)\P{Ll}+`, `(?i)\p{Lt}`, `(?i)\p{LC}+`, `(?i)\p{ASCII}+`, `(?i)\P{ASCII}+`, `(?i)\p{Latin}+`, `\p{cased-letter}+`, `\p{Cased_Letter}+`,
	// Escapes.
	`\x41`, `\x{41}`, `\x{1F600}`, `\x{10FFFF}`, `\x{110000}`, `\x{}`, `\x{`, `\x`, `\x4`, `\x4g`, `\xfg`, `\x{41`, `\x{D800}`, `\u0041`, `\U00000041`,
	`\cA`, `\e`, `\h`, `\H`, `\v`, `\V`, `\R`, `\X`, `\K`, `\G`, `\Z`, `\z`, `\A`, `\C`, `\N`, `\<`, `\>`, `\_`, `\é`, `\0`, `\00`, `\012`, `\07`, `\18`, `\1`, `\12`,
	`\377`, `\400`, `\777`, `\8`, `\9`, `\a`, `\b`, `\B`, `\bweb\b`, `\Bb`, `\f`, `\t`, `\n`, `\r`, `\.`, `\/`, `\-`, `\ `, `\"`, `\\`, `\`, `a\`, `\Qa.b\E`, `\Qa.b`, `\Q\E`,
	`\E`, `\Q.\E+`, `\Qab\E+`, `a\Q*\E`, `\QE`, `\d+`, `\D+`, `\s+`, `\S+`, `\w+`, `\W+`, `(?i)\w+`, `(?i)\W`, `[\d]+`, `[\D]+`, `[^\d]+`, `[^\D]+`, `[\s\S]+`, `[\w-]+`, `[\b]`, `[\B]`, `[\z]`, `[\Qa]`,
	// Brackets.
	`[a-c]+`, `[^a-c]+`, `[]a]`, `[]`, `[^]a]`, `[^]`, `[`, `[a`, `[a-`, `[a-]`, `[-a]`, `[a-b-c]`, `[--a]`, `[w--x]`, `[a-z&&[^b]]`, `[a&&b]`, `[a~~b]`, `[[a]`, `[[:alpha:]]+`,
	`[[:^alpha:]]+`, `[[:foo:]]`, `[:alpha:]+`, `[[:alpha:]`, `[[:alpha]]`, `[[.a.]]`, `[[=a=]]`, `[[:word:]]+`, `[[:ascii:]]+`, `[[:blank:]]`, `[[:cntrl:]]`, `[[:digit:][:upper:]]+`, `[[:graph:]]+`,
	`[[:lower:]]+`, `[[:print:]]+`, `[[:punct:]]+`, `[[:space:]]+`, `[[:upper:]]+`, `[[:xdigit:]]+`, `(?i)[[:upper:]]+`, `(?i)[[:^upper:]]+`, `[z-a]`, `[a-\d]`, `[\d-z]`, `[a-\n]`, `[\x41-\x43]+`, `[\x{1F600}-\x{1F64F}]`,
	`[é-ü]`, `[a\]b]+`, `[\-a]`, `[.]`, `[*+?]`, `[^\n]+`, `[#]`, `[ ]`, `[^a]`, `[a-a]`, `[a^]`, `[$]`, `[(]`, `[{]`, `[|]`,
	// Repetition.
	`a{2}`, `a{2,}`, `a{2,3}`, `a{0}`, `a{,2}`, `a{2`, `a{`, `a{}`, `a{x}`, `a{-1}`, `a{02}`, `a{1,02}`, `a{1000}`, `a{1001}`, `a{0,1000}`, `a{0,1001}`, `{0,1001}`, `{2}`, `a{3,2}`, `a{2}{3}`, `(a{2}){3}`,
	`(a{100}){11}`, `(a{100}){10}`, `((a{10}){10}){10}`, `((a{10}){10}){11}`, `(?:a{1000}){0}`, `(a{0,1000}){2}`, `(a{500,}){2}`, `(a{501,}){2}`, `(a|b{1000}){1}`, `(a{1000}|b){2}`, `a{99999999999}`, `a**`, `a*+`, `a*?`, `a*??`, `a+?`, `a+*`, `a++`, `a??`, `a?+`, `a{2}?`, `a{2}+`, `a{2}*`, `a{2}??`,
	`*`, `+`, `?`, `*a`, `+a`, `?a`, `a|*`, `(*)`, `(+a)`, `(?:*)`, `^*`, `$*`, `\b*`, `\b+`, `^+a`, `(^)*`, `(a*)*`, `(a*)+`, `(a+)*`, `(a|b)*`, `(?:)*`, `()*`, `()`, `a*`, `a+`, `.*`, `.+`, `.`, `(?i)a{2}`, `(?U)a+`, `(?U)a+?`, `x*y*`,
	`\pN{2}`, `[a-c]{2,3}`, `(ab){2}`, `a.{3}b`, `.{5}`, `^.{1,63}$`,
	// Groups.
	`(a)`, `(a`, `a)`, `)`, `(`, `((a)`, `(a))`, `(?:a)`, `(?:a`, `(?P<n>a)`, `(?P<n>a)(?P<n>b)`, `(?<n>a)`, `(?<n>a)(?P<n>b)`, `(?P<>a)`, `(?<>a)`, `(?P<n`, `(?P<n>`, `(?P<1>a)`, `(?P<n-m>a)`, `(?P<é>a)`, `(?P=n)`, `(?P>n)`, `(?'n'a)`, `(?P<n>`, `(?P`, `(?<`,
	`(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `(?>a)`, `(?#a)`, `(?|a)`, `(?R)`, `(?1)`, `(?i)WEB`, `(?i:W)eb`, `(?-i)web`, `(?i)W(?-i)eb`, `(?i-s)a.`, `(?x) a b`, `(?x)`, `(?is)A.C`, `(?im)^B`, `(?m)^b$`, `(?s).+`, `(?ms)^.+$`, `(?U)a*`, `(?u)a`, `(?-u)a`, `(?R)a`, `(?L)a`, `(?a)a`,
	`(?i-)a`, `(?-)a`, `(?)a`, `(?:)`, `(?`, `(?i`, `(?i:`, `(?--i)a`, `(?ii)A`, `(?i-i)A`, `(?z)`, `(?J)`, `(?n)`, `a(?i)b|c`, `(a(?i)b)C`, `(?i)ſ`, `(?i)k`, `(?i)K`, `(?i)s`, `(?i)ß`, `(?i)İ`, `(?i)ς`, `(?i)[a-z]+`, `(?i)é`,
	// The rest.
	``, `|`, `a|`, `|a`, `a||b`, `web|api`, `^web$`, `^`, `$`, `^$`, `a^b`, `a$b`, `(^|a)b`, `a.c`, `}`, `]`, `a]`, `a}`, `]}`, `{`, `{}`, `{a}`, `a{1`, `é+`, `😀`, `\x{1F600}+`, `..`, `a|ab`, `ab|a`, `(a|ab)(c|bcd)(d*)`, `a+|a*`, `&&`, `~`, `#`, ` `, `a b`, "a\nb", "a#b", `--`, `//`,
	`^(?:(?P<a>x)|y)$`, `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, `^v\d+\.\d+\.\d+(-[\w.]+)?$`, `.*-(dev|prod)$`, `^app-(\d{2,3})$`, `^(https?|ftp)://[^\s/$.?#].[^\s]*$`, `(?i)^(web|api)-.*$`,
	strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200), strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000), strings.Repeat("(", 1001) + "a" + strings.Repeat(")", 1001),
	"x" + strings.Repeat("(", 999) + "a" + strings.Repeat(")", 999), "x" + strings.Repeat("(", 998) + "a" + strings.Repeat(")", 998), strings.Repeat("(", 999) + "a" + strings.Repeat(")", 999), strings.Repeat("(?:", 1200) + "a" + strings.Repeat(")", 1200), strings.Repeat("(a|", 600) + "b" + strings.Repeat(")", 600), strings.Repeat("(", 999) + "a*" + strings.Repeat(")", 999),
	strings.Repeat("(ab", 499) + "c" + strings.Repeat(")", 499), strings.Repeat("(ab", 500) + "c" + strings.Repeat(")", 500),
	"\xff", "a\xffb", "[\xff]", "(?P<\xff>a)", `\Q` + "\xff",
}

var texts = []string{
	"", "a", "b", "ab", "aa", "aaa", "abc", "a.b", "axb", "a\nb", "a\nc", "web", "my-web-2", "WEB", "Web", "api", "K", "\u212a", "s", "ſ", "ss", "ß", "İi", "σς", "é", "É", "Äöü", "Ελλ", "ab12", "12", "\u0661\u0662", "日本", "😀😀",
	"a b\tc", "a\u00a0b", "a_b-c", "{2}", "a{,2}", "a{2", "a{0,1001}", "{0,1001}", "]", "a]b", "}", "[x", "a-z", "w-x", "-", "^", "a&b", "a~b", "*", "+", "$", "\\", "(?x)", " ab", "A", "\x00", "\x01", "\x7f", "\n", "\v", "\u2028",
	"https://a.b/c", "v1.2.3-rc.1", "app-123", "abcd", "aaaaab", "::", "E", "Q", "#", "/", "//", "&&", ":", "l", "xé", "\u0378", "\ue000", "\U0010ffff", "\ufffd", "aéb", "x😀y",
}

type row struct {
	Pattern string              `json:"pattern"`
	Bytes   []byte              `json:"bytes,omitempty"`
	Error   string              `json:"error,omitempty"`
	Finds   map[string][]string `json:"finds,omitempty"`
	Gets    map[string]string   `json:"replaced,omitempty"`
}

func main() {
	rows := []row{}
	for _, pattern := range patterns {
		row := row{Pattern: pattern}
		if strings.ToValidUTF8(pattern, "") != pattern {
			row.Pattern, row.Bytes = "", []byte(pattern)
		}
		expression, err := regexp.Compile(pattern)
		if err != nil {
			row.Error = err.Error()
		} else {
			row.Finds, row.Gets = map[string][]string{}, map[string]string{}
			for _, text := range texts {
				found := expression.FindAllString(text, -1)
				if found != nil {
					row.Finds[text] = found
					row.Gets[text] = expression.ReplaceAllString(text, "<${1}>")
				}
			}
		}
		rows = append(rows, row)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	os.Stdout.WriteString("[\n")
	for i, row := range rows {
		if i > 0 {
			os.Stdout.WriteString(",")
		}
		out.Encode(row)
	}
	os.Stdout.WriteString("]\n")
}
