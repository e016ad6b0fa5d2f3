package httpapi

import (
	"strconv"
	"strings"
)

// The media types of a GraphQL response. They differ in the status of a refused request:
// with the older one it is 200, because its clients read no other response.
const (
	mediaGraphQL = "application/graphql-response+json"
	mediaJSON    = "application/json"
)

// MediaEvents is the media type of an event stream.
const MediaEvents = "text/event-stream"

// PrefersEvents reports whether the client accepts text/event-stream explicitly, with the highest quality.
// It also returns a type that the client accepts equally, for operations with one response.
func PrefersEvents(accept []string) (media string, ok bool) {
	ranges := acceptRanges(accept)
	events, named := quality(ranges, MediaEvents)
	newer, newerNamed := quality(ranges, mediaGraphQL)
	older, olderNamed := quality(ranges, mediaJSON)
	if !named || events == 0 || (newerNamed && newer > events) || (olderNamed && older > events) {
		return "", false
	}
	if (newerNamed && newer == events) || (olderNamed && older == events) {
		media, _ = negotiate(accept)
	}
	return media, true
}

// negotiate returns the media type that the client prefers; without a preference that is
// application/json. It reports false for a client that accepts none.
func negotiate(accept []string) (string, bool) {
	ranges := acceptRanges(accept)
	if len(ranges) == 0 {
		return mediaJSON, true
	}
	newer, named := quality(ranges, mediaGraphQL)
	older, _ := quality(ranges, mediaJSON)
	switch {
	case newer == 0 && older == 0:
		return "", false
	case newer > older, newer == older && named:
		return mediaGraphQL, true
	default:
		return mediaJSON, true
	}
}

type acceptRange struct {
	media   string // type/subtype, type/* or */*
	quality float64
}

// Bounds of an Accept header that counts. Browsers send up to ten ranges, in less than 200 bytes.
const (
	maxRanges      = 32
	maxAcceptBytes = 512
)

// maxQuality is the length of a quality value, in bytes.
const maxQuality = 18

// acceptRanges parses the first [maxRanges] ranges of the Accept header in its first [maxAcceptBytes]. A range that is malformed, or that
// asks for another charset than UTF-8, matches no type.
func acceptRanges(values []string) []acceptRange {
	var ranges []acceptRange
	parsed := 0
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			if parsed += len(part); len(ranges) == maxRanges || parsed > maxAcceptBytes {
				return ranges
			}
			media, params, err := parseMediaType(part)
			q, ok := parseQuality(params["q"])
			charset := params["charset"]
			if err != nil || !ok || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
				media = ""
			}
			ranges = append(ranges, acceptRange{media, q})
		}
	}
	return ranges
}

// parseQuality parses a weight of RFC 9110, section 12.4.2, with any number of decimals up to [maxQuality]. It accepts no exponent: reading
// a number that a float64 cannot hold takes very long.
func parseQuality(text string) (float64, bool) {
	switch {
	case text == "":
		return 1, true
	case len(text) > maxQuality || strings.Trim(text, "0123456789.") != "":
		return 0, false
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}

// quality returns the quality value of a type, by the most specific range that matches it,
// and whether that range names the type.
func quality(ranges []acceptRange, media string) (q float64, named bool) {
	family, _, _ := strings.Cut(media, "/")
	best := -1
	for _, r := range ranges {
		specific := -1
		switch r.media {
		case media:
			specific = 2
		case family + "/*":
			specific = 1
		case "*/*":
			specific = 0
		}
		if specific > best {
			best, q = specific, r.quality
		}
	}
	return q, best == 2
}
