package server

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of a GraphQL response. They differ in the status of a request error:
// the older one says 200, because clients of its day read nothing else.
const (
	mediaGraphQL = "application/graphql-response+json"
	mediaJSON    = "application/json"
)

// mediaEvents is the media type of a stream of events.
const mediaEvents = "text/event-stream"

// prefersEvents reports whether the client names a stream of events, and nothing that it
// likes better. What it likes as much is returned, too: that is for operations with one
// response.
func prefersEvents(accept []string) (media string, ok bool) {
	ranges := acceptRanges(accept)
	events, named := quality(ranges, mediaEvents)
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

// negotiate picks the media type that the client likes best. A client that has no
// preference gets application/json; it reports false for one that takes neither.
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

// acceptRanges parses the values of the Accept header. What is malformed, or wants
// another charset than UTF-8, is one range that matches nothing.
func acceptRanges(values []string) []acceptRange {
	var ranges []acceptRange
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			media, params, err := mime.ParseMediaType(part)
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

func parseQuality(text string) (float64, bool) {
	if text == "" {
		return 1, true
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}

// quality returns how much a type is wanted, by the most specific range that matches,
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
