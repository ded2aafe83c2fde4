/** Answers of the endpoint before a message has reached the MCP library. */

/** What is wrong. @see https://www.jsonrpc.org/specification#error_object */
export interface JsonRpcFault {
  readonly code: number
  readonly message: string
}

/** A response with an error of no request in particular. */
export function jsonRpcError(status: number, error: JsonRpcFault): Response {
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}
