package httpapi

// MaxValues is how many JSON values a request may contain.
const MaxValues = maxValues

// MaxExtensions is how many JSON values the extensions of a request may contain.
const MaxExtensions = maxExtensions
