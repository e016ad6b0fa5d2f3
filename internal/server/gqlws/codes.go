package gqlws

import "github.com/gorilla/websocket"

// Close codes: those of the protocol, and those of RFC 6455 and its registry.
const (
	closeInternal    = websocket.CloseInternalServerErr
	closeRestart     = websocket.CloseServiceRestart
	closeTryLater    = websocket.CloseTryAgainLater
	CloseInvalid     = 4400 // an invalid message
	closeNotReady    = 4401
	closeForbidden   = 4403
	closeSubprotocol = 4406
	closeInitTimeout = 4408
	closeDuplicate   = 4409
	closeSecondInit  = 4429
)
