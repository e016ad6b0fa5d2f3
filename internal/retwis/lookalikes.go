package retwis

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes maps letters to the Latin ones that they look like, in pairs. Letters with marks, and styled forms such as
// full-width ones, are decomposed before. Capital letters that look different from their small ones are in the second list.
const (
	lookalikes = "аaвbсcԁdеeɡgнhһhіiјjкkӏlмmпnоoрpԛqгrѕsтtцuѵvԝwхxуyзz" + // Cyrillic, and one of IPA
		"αaβbεeγyιiκkνvηnοoρpτtυuωwχxζz" + // Greek
		"ıiɩiłløođdħhɑaɐaᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz" + // Latin
		"@a$s!i|l€e"
	capitalLookalikes = "ΗhΝnΥyΜmΡpΧxІiУyРpНhВbСc"
)

// imitatesStaff reports whether a display name looks like a name of the service or its staff: Admin, аdmin with a Cyrillic
// letter, S-u-p-p-o-r-t, RETWIS HELP.
func imitatesStaff(name string) bool {
	var look strings.Builder
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(latinOf(r, capitalLookalikes))
		r = latinOf(r, lookalikes)
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			look.WriteRune(r)
		}
	}
	return imitates(look.String())
}

// latinOf returns the letter that a letter looks like by a list of pairs, or the letter itself.
func latinOf(r rune, pairs string) rune {
	found := false
	for i, other := range []rune(pairs) {
		switch {
		case found:
			return other
		case i%2 == 0 && other == r:
			found = true
		}
	}
	return r
}
