package httpapi

// MaxValues is how many JSON values a request may contain.
const MaxValues = maxValues
