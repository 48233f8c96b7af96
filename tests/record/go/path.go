// Records how Go's path matches patterns and cleans paths.
//
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
)

var patterns = []string{
	"", "abc", "*", "?", "*c", "a*", "a*/b", "a*b*c*d*e*/f", "a*b?c*x", "ab[b-d]", "ab[e-g]", "ab[^c]", "ab[^b-d]", "a\\*b", "a?b", "a[^a]b", "[a-ζ]*", "*[a-ζ]", "a[!b]c", "[\\]a]", "[\\-]", "[x\\-]", "[x-]", "[-]", "[-x]", "[a-b-c]", "[", "[^", "[^bc", "a[", "a[b", "[]a]", "[]", "[^]", "\\", "a\\", "[\\", "[a\\", "*x", "**", "***", "a**b", "*/", "*/*", "/*", "//", ".*", "*.yaml", "{a,b}", "[b-a]", "[a-]b]", "[a-\\]]", "[^-a]", "a[]b", "*[", "x*[", "[a]*[b", "é", "?é", "[é]", "[^é]", "[é-ü]", "a/**/b", "\\a", "[\\a-\\c]", "*\\", "a[b]c", "[*]", "[?]", "[[]", "[!]", "[!a-c]",
}

var names = []string{
	"", "a", "b", "abc", "ab/c", "abc/b", "a/c/b", "axbxcxdxe/f", "axbxcxdxexxx/f", "axbxcxdxe/xxx/f", "axbxcxdxexxx/fff", "abxbbxdbxebxczzx", "abxbbxdbxebxczzy", "a*b", "ab", "axb", "a☺b", "a/b", "α", "]", "-", "x", "xxx", "a!c", "aac", "[", "a[", "/", "a/", "/a", ".a", "a.yaml", "a/b.yaml", "{a,b}", "é", "xé", "ö", "a/x/b", "a//b", "\\", "a\\", "!", "c", "d", "*", "?", "^", "a\nb",
}

var paths = []string{
	"", ".", "..", "/", "//", "a", "a/", "a//b", "./a", "a/.", "a/..", "a/../b", "../a", "../../a", "a/../..", "a/../../b", "/..", "/../a", "/a/..", "/a/../..", "a/b/../../..", "a/./b", "./..", "..a", "a..", "a/...", "/.", "///a///", "a/b/./../c/", "é/..",
}

func main() {
	var out struct {
		Matched map[string]*[]string `json:"matched"`
		Names   []string             `json:"names"`
		Cleaned map[string]string    `json:"cleaned"`
	}
	out.Matched, out.Names, out.Cleaned = map[string]*[]string{}, names, map[string]string{}
	for _, pattern := range patterns {
		found := []string{}
		var bad error
		for _, name := range names {
			ok, err := path.Match(pattern, name)
			// filepath.Match looks at the rest of a bad pattern only where a name leads it there.
			if also, _ := filepath.Match(pattern, name); also != ok {
				panic(pattern)
			}
			if err != nil {
				bad = err
			}
			if ok {
				found = append(found, name)
			}
		}
		out.Matched[pattern] = &found
		if bad != nil {
			out.Matched[pattern] = nil
		}
	}
	for _, text := range paths {
		if path.Clean(text) != filepath.Clean(text) {
			panic(text)
		}
		out.Cleaned[text] = path.Clean(text)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	encoder.Encode(out)
}
