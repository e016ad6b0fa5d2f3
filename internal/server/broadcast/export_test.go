package broadcast

// MaxPending is how many live events of one subscription may wait to be rendered.
const MaxPending = maxPending
