// Records how Go's time formats and reads times and durations.
//
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"os"
	"time"
)

var layouts = []string{
	time.RFC3339, time.RFC3339Nano, time.RFC1123, time.RFC1123Z, time.RFC822, time.RFC822Z, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate, time.Kitchen, time.Stamp, time.StampMilli, time.StampMicro, time.StampNano, time.DateTime, time.DateOnly, time.TimeOnly,
	"2006-1-2", "2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "06-01-02", "2006-002", "2006-__2", "Jan _2 2006", "January 2, 2006", "Mon Monday", "3:04PM", "03:04pm", "15h", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05-07", "2006-01-02T15:04:05Z07:00:00", "05.000", "05,000", "05.999", "05.00000000000", "20060102150405", "", "x", "2006 2006", "MST -0700", "_2006", "02/01/06", "1/2/2006 15:04",
}

var instants = []time.Time{
	time.Unix(0, 0).UTC(), time.Date(2024, 2, 29, 23, 59, 59, 999999999, time.UTC), time.Date(2024, 3, 27, 10, 32, 4, 5000000, time.FixedZone("", 5400)), time.Date(9, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2020, 12, 31, 12, 0, 0, 120000000, time.FixedZone("XYZ", -3*3600)), time.Date(12345, 6, 7, 0, 0, 0, 1, time.UTC), time.Date(-5, 6, 7, 0, 0, 0, 0, time.UTC),
	time.Date(2023, 11, 5, 0, 30, 15, 0, time.FixedZone("", -12345)), {},
}

var texts = []struct{ layout, text string }{
	{time.RFC3339, "2025-10-01T08:23:45-04:00"}, {time.RFC3339, "2025-10-01T08:23:45Z"}, {time.RFC3339, "2025-10-01T08:23:45.999Z"}, {time.RFC3339, "2025-10-01T08:23:45,5+02:00"}, {time.RFC3339, "2025-10-01T8:23:45Z"}, {time.RFC3339, "2024-02-29T00:00:00Z"}, {time.RFC3339, "0000-01-01T00:00:00Z"}, {time.RFC3339, "2025-02-29T00:00:00Z"}, {time.RFC3339, "2025-10-01t08:23:45z"}, {time.RFC3339, "2025-10-01 08:23:45Z"}, {time.RFC3339, "2025-10-01T08:23:45"}, {time.RFC3339, "2025-10-01T08:23:45.Z"}, {time.RFC3339, "2025-10-01T08:23:45Z "}, {time.RFC3339, "2025-10-01T08:23:60Z"}, {time.RFC3339, "2025-10-01T24:00:00Z"}, {time.RFC3339, "2025-10-01T08:23:45+2:00"}, {time.RFC3339, "2025-10-01T08:23:45+0200"}, {time.RFC3339, "2025-10-01T08:23:45+24:00"}, {time.RFC3339, "2025-10-01T08:23:45+25:00"}, {time.RFC3339, "2025-10-01T08:23:45+10:60"}, {time.RFC3339, "2025-13-01T08:23:45Z"}, {time.RFC3339, "25-10-01T08:23:45Z"}, {time.RFC3339, ""}, {time.RFC3339, "2025-00-01T08:23:45Z"}, {time.RFC3339, "2025-01-00T08:23:45Z"}, {time.RFC3339, "2025-01-32T08:23:45Z"}, {time.RFC3339, "2025-01-01T08:60:45Z"}, {time.RFC3339, "2025-01-01T08:23:45-00:00"}, {time.RFC3339, "éé"},
	{"2006-1-2T15:4:5.999999999Z07:00", "2001-12-14T21:59:43.10-05:00"}, {"2006-1-2t15:4:5.999999999Z07:00", "2001-12-14t21:59:43.10-05:00"}, {"2006-1-2 15:4:5.999999999", "2001-12-14   21:59:43.10"}, {"2006-1-2 15:4:5.999999999", "2001-12-14 21:59:43.10 -5"}, {"2006-1-2", "2001-12-14"}, {"2006-1-2", "2001-2-3"}, {"2006-1-2", "2001-02-30"}, {"2006-1-2", "2001-2-3x"}, {"2006-1-2", "02001-2-3"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T1:2:3Z"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T1:2:3.Z"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T1:2:3.1234567890123Z"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T1:2:3,5Z"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T24:2:3Z"}, {"2006-1-2T15:4:5.999999999Z07:00", "2001-1-1T1:2:3+24:60"}, {"2006-1-2 15:4:5.999999999", "2001-1-1\t1:2:3"}, {"2006-1-2 15:4:5.999999999", "2001-1-11:2:3"}, {"2006-1-2", "2001-1-1 "}, {"2006-1-2", " 2001-1-1"},
	{time.DateOnly, "2024-02-30"}, {time.DateOnly, "2024-2-3"}, {time.DateOnly, "2024-02-29x"}, {time.DateOnly, "x"}, {time.DateOnly, ""}, {time.DateOnly, "20240-02-29"}, {time.RFC1123, "Mon, 02 Jan 2006 15:04:05 MST"}, {time.RFC1123, "mon, 02 jan 2006 15:04:05 GMT+3"}, {time.RFC1123, "Xyz, 02 Jan 2006 15:04:05 MST"}, {time.ANSIC, "Mon Jan  2 15:04:05 2006"}, {time.Kitchen, "3:04PM"}, {time.Kitchen, "13:04PM"}, {time.Kitchen, "12:00AM"}, {time.Kitchen, "3:04XM"}, {"2006-002", "2024-366"}, {"2006-002", "2023-366"}, {"2006-002", "2023-000"}, {"05.000", "07.123"}, {"05.000", "07.12"}, {"05.999", "07"}, {"January", "march"}, {"Jan", "Foo"}, {"06", "68"}, {"06", "69"}, {"2006 x", "2024 y"}, {"MST", "WXYZ"}, {"MST", "abc"}, {"-0700", "+0530"}, {"Z0700", "Z"}, {"Z07:00:00", "+01:02:03"}, {"15:04", "7:05"}, {"2006-01-02", "2024-01-02T"},
}

var durations = []string{
	"", "0", "+0", "-0", "1", "1s", "-1s", "+1s", "1.5h", ".5s", "5.s", ".s", "1h2m3s4ms5us6ns", "1µs", "1μs", "1us", "1d", "1h-", "1 h", "h", "1.2.3s", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "-9223372036854775809ns", "2562047h47m16.854775807s", "2562048h", "0.000000001s", "0.0000000001s", "1.00000000000000000001h", "1e3s", "é", "1é", "3.402823669209385e38s", "0.3333333333333333333h", "--1s", "1s1s", "1m1", "٣s",
}

type formatted struct {
	Seconds int64             `json:"seconds"`
	Nanos   int               `json:"nanos"`
	Offset  int               `json:"offset"`
	Zone    string            `json:"zone"`
	String  string            `json:"string"`
	Layouts map[string]string `json:"layouts"`
}

func main() {
	var out struct {
		Formatted []formatted `json:"formatted"`
		Read      [][3]string `json:"read"`
		Durations [][2]string `json:"durations"`
	}
	for _, instant := range instants {
		zone, offset := instant.Zone()
		row := formatted{instant.Unix(), instant.Nanosecond(), offset, zone, instant.String(), map[string]string{}}
		for _, layout := range layouts {
			row.Layouts[layout] = instant.Format(layout)
		}
		out.Formatted = append(out.Formatted, row)
	}
	for _, row := range texts {
		found, err := time.Parse(row.layout, row.text)
		if err != nil {
			out.Read = append(out.Read, [3]string{row.layout, row.text, err.Error()})
		} else {
			out.Read = append(out.Read, [3]string{row.layout, row.text, found.String()})
		}
	}
	for _, text := range durations {
		found, err := time.ParseDuration(text)
		if err != nil {
			out.Durations = append(out.Durations, [2]string{text, err.Error()})
		} else {
			out.Durations = append(out.Durations, [2]string{text, found.String()})
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	encoder.Encode(out)
}
