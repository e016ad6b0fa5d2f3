package broadcast

// kept is what the groups of a client, or of a network, keep: the operation of one takes about 15 bytes of memory for each of its size.
type kept struct{ groups, size int }

const (
	groupsOfClient  = 256
	sizeOfClient    = 1 << 20
	groupsOfNetwork = 20_000
	sizeOfNetwork   = 16 << 20
)

// keeping counts what the groups of clients or networks keep.
type keeping[Key comparable] map[Key]kept

// add counts a group of a size. It reports false, and counts nothing, if that is too much.
func (k keeping[Key]) add(key Key, size int, most kept) bool {
	now := k[key]
	now.groups++
	now.size += size
	if now.groups > most.groups || now.size > most.size {
		return false
	}
	k[key] = now
	return true
}

func (k keeping[Key]) remove(key Key, size int) {
	now := k[key]
	now.groups--
	now.size -= size
	if k[key] = now; now.groups == 0 {
		delete(k, key)
	}
}
