import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

/** openSocket makes the websocket client of an app that is to stay live, whatever happens. */
export function openSocket(server, token) {
  return createClient({
    url: server.socketURL,
    webSocketImpl: WebSocket,
    connectionParams: () => ({ authorization: `Bearer ${token()}` }),
    retryAttempts: Infinity,
    shouldRetry: () => true,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 20)),
  });
}
