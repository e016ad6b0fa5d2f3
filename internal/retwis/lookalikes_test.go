package retwis

import "testing"

func TestNormalizeDisplayName_RefusesNamesOfTheStaff(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"admin", "Admin", "ADMINS", "аdmin", "Аdmіn", "@dmin", "Ａｄｍｉｎ", "𝐀𝐝𝐦𝐢𝐧", "ádmîn", "A d m i n", "adm1n", "★ Admin ★", "ᴀᴅᴍɪɴ",
		"Support", "Ѕuррогt", "Retwis", "RETWIS Team", "Retwis-Support", "rеtwіs", "Moderator", "Sуstеm", "r00t",
	} {
		_, err := NormalizeDisplayName(name)
		wantUserError(t, err, CodeInvalid, "displayName", "looks like")
	}
	for _, name := range []string{
		"Ada", "Adam", "Admiral", "Администрация города", "Ρωμαίος", "Supporter of all", "Madmin", "Rita Wisniewski", "管理员", "Modest M.",
		"Rooty", "Systema", "Алексей", "Ελένη", "ø", "🦊",
	} {
		if got, err := NormalizeDisplayName(name); err != nil || got != name {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
}
