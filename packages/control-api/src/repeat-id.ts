/** Returns the id of a request for its reply. */
export function repeatId(requestId: string | undefined): { readonly requestId?: string } {
  return requestId === undefined ? {} : { requestId }
}
