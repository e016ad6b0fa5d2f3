package broadcast

// kept is what the groups of a client, or of a network, keep: the operation of one takes about 15 bytes for each byte of its text.
type kept struct{ groups, bytes int }

const (
	groupsOfClient  = 256
	bytesOfClient   = 1 << 20
	groupsOfNetwork = 20_000
	bytesOfNetwork  = 16 << 20
)

// keeping counts what the groups of clients or networks keep.
type keeping[Key comparable] map[Key]kept

// add counts a group whose operation has some bytes. It reports false, and counts nothing, if that is too much.
func (k keeping[Key]) add(key Key, bytes int, most kept) bool {
	now := k[key]
	now.groups++
	now.bytes += bytes
	if now.groups > most.groups || now.bytes > most.bytes {
		return false
	}
	k[key] = now
	return true
}

func (k keeping[Key]) remove(key Key, bytes int) {
	now := k[key]
	now.groups--
	now.bytes -= bytes
	if k[key] = now; now.groups == 0 {
		delete(k, key)
	}
}
