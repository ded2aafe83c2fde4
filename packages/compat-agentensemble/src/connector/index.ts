/** Calls tasks and tools that another server shares over its WebSocket. */
export { peerConnector, type PeerConnectorOptions } from './peer-connector.ts'
