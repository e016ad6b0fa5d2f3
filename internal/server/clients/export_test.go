package clients

// MaxEnded is how many session ends one admission remembers.
const MaxEnded = maxEnded
