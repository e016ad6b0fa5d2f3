package retwis

// DocumentID is the extension of a request under which a transport hands on the documentId
// that came in place of a document.
const DocumentID = "documentId"
